#pragma once

#include <string>
#include <utility>

#include "http/router.hpp"
#include "page/assets.hpp"

/// How files of the page and of the documents are answered. For this folder only.
namespace tenure::page {

/// With the headers that keep a browser from everything but this server.
http::Response Guarded(http::Response response);

/// As it is, or compressed where the request takes that.
void ReplyFile(const http::ExchangePtr& exchange, const Asset& file, http::Response response);

/// Public, and open to visits from other sites.
void AddPublic(http::Router& router, std::string pattern, std::string operation,
               http::Handler handler);

void AddDocsRoutes(http::Router& router);

}  // namespace tenure::page
