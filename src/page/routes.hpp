#pragma once

#include "http/router.hpp"

namespace tenure::page {

/// The dashboard: `/` leads to `/ui/`, every path below `/ui/` is the same small shell, whose script
/// shows what the path names, and `/ui/assets/` has the script, the style and the icon.
///
/// All of it is public and holds no data: the script asks the API, with the token of who reads the
/// page. So a link from anywhere may lead here, also in protected mode (Route::page).
void AddRoutes(http::Router& router);

}  // namespace tenure::page
