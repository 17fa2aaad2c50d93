#pragma once

#include <memory>
#include <string>

#include "base/mutex.hpp"
#include "config/load.hpp"
#include "http/router.hpp"

namespace tenure::app {

/// What the server runs by and where each value comes from, as GET /api/v1/settings answers it.
/// Secrets are left out. Any thread.
class SettingsShown {
 public:
  void Show(const config::Loaded& loaded);
  std::shared_ptr<const std::string> Json() const;

 private:
  mutable base::Mutex mutex_;
  std::shared_ptr<const std::string> json_ TENURE_GUARDED_BY(mutex_);
};

/// /api/v1/settings. `shown` must outlive the router.
void AddSettingsRoute(http::Router& router, const SettingsShown& shown);

}  // namespace tenure::app
