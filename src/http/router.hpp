#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.hpp"

namespace tenure::http {

/// Runs on the connection's loop: decodes, submits to a lane or answers at once; never blocks. A
/// `ProblemError` that it throws becomes the answer; any other exception is a 500 and is logged.
using Handler = std::function<void(const ExchangePtr&)>;

struct Route {
  Method method = Method::kGet;
  std::string pattern;  ///< "/sessions/{id}"; a placeholder is one whole segment
  std::string
      operation;      ///< its operationId in openapi.json, and its label in metrics: "putSession"
  std::string scope;  ///< what a token must carry; empty: nobody needs a token
  Handler handler;
};

/// All routes of the server. Filled before the server starts, constant afterwards.
class Router {
 public:
  void Add(Route route);
  std::span<const Route> routes() const { return routes_; }

  struct Match {
    const Route* route = nullptr;              ///< null: no such path, or not with this method
    std::vector<std::string> path_parameters;  ///< percent-decoded
    std::vector<Method> allowed;               ///< of the path, when only the method is wrong
  };
  /// HEAD is served by the GET route.
  Match Find(Method method, std::string_view path) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace tenure::http
