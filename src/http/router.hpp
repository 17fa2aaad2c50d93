#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "http/body_memory.hpp"
#include "http/exchange.hpp"

namespace tenure::http {

/// Runs on the connection's loop: decodes, submits to a lane or answers at once; never blocks. A
/// `ProblemError` that it throws becomes the answer, a `base::Fault` goes through the one table;
/// any other exception is a 500 and is logged.
using Handler = std::function<void(const ExchangePtr&)>;

/// The scope of a route that needs no token. A route has a rule: what is left out is refused when it
/// is added, so nothing is open because somebody forgot.
inline constexpr const char* kPublic = "public";
/// The scope of a route that any valid token may ask: it tells the asker about himself.
inline constexpr const char* kAnyToken = "any";
/// The scope of a route that is opened by a signature of the body. Who signed is not known before
/// the body is here, so the handler checks it, and after it what other routes are asked by the
/// header: the type of the content (`CheckContentType`). Requests are counted when their body is
/// here.
inline constexpr const char* kSigned = "signed";

struct Route {
  Method method = Method::kGet;
  /// "/sessions/{id}"; a placeholder is one whole segment. A last segment "{*}" is all that follows,
  /// as it was sent.
  std::string pattern;
  std::string
      operation;      ///< its operationId in openapi.json, and its label in metrics: "putSession"
  std::string scope;  ///< what a token must carry, kPublic or kSigned
  Handler handler;
  /// Names of this route may contain slashes: %2F in a placeholder is one. Elsewhere it is refused,
  /// since an intermediary may have decoded it and taken the path for another.
  bool encoded_slash = false;
  std::string rate_class = {};  ///< those of one class share a limit (rate_limits.hpp); empty: none
  std::string span = {};        ///< the name of its span in traces; empty: it has none
  /// The attribute of its span that says what became of the request. It is "refused" until the
  /// handler knows better, so that a request that was never carried out says so.
  std::string_view span_result = {};
  std::vector<std::pair<std::string_view, std::string_view>> span_attributes = {};  ///< of each
  std::size_t max_body_bytes = 0;  ///< 0: as the server says
  /// Where its bodies are counted, small ones in the connection's own buffer aside; null: with those
  /// of all other routes.
  std::shared_ptr<BodyMemory> body_memory{};
  /// Looks at the header before anything is read or kept for the body; throws ProblemError when it
  /// is not welcome. Must not block. Empty: every body is.
  std::function<void(const Request&)> admit{};
  /// Of a write: what its Content-Type may be; empty: application/json and nothing else. (A form of
  /// a foreign page cannot send that type, also not without a body.)
  std::vector<std::string_view> content_types = {};
  /// What it may put on record (the audit): the names of its acts. Whoever has the scope `admin`
  /// and changes something does so on record.
  std::vector<std::string> acts = {};
  /// It shows a page that holds no data: a link on any other site may lead to it.
  bool page = false;
};

/// Throws ProblemError 415 when a write's Content-Type is none that the route takes. The dispatcher
/// asks this by the header, of routes that are not signed.
void CheckContentType(const Route& route, const Request& request);

/// All routes of the server. Filled before the server starts, constant afterwards.
///
/// Paths are compared as they were sent: "/sess%69ons" and "/sessions/" are not "/sessions". A path
/// without placeholders is found with one hash look-up and no allocation; it wins over a pattern
/// that fits too and has the method, and of two patterns the one whose first differing segment is
/// fixed.
class Router {
 public:
  /// Where a proxy shows all routes: "/tenure", or nothing.
  void SetBase(std::string base) { base_ = std::move(base); }
  const std::string& base() const { return base_; }

  /// REQUIRES: it has a scope, and no other route has this method and this pattern.
  void Add(Route route);
  std::span<const Route> routes() const { return routes_; }

  struct Match {
    const Route* route = nullptr;              ///< null: no such path, or not with this method
    std::vector<std::string> path_parameters;  ///< percent-decoded
    std::vector<Method> allowed;               ///< of the path, when only the method is wrong
  };
  /// The path with or without the base: a proxy may have taken it off. HEAD is served by the GET
  /// route. Throws ProblemError 400 when a parameter of the path is not
  /// well encoded, is not text, or has an encoded slash and the route takes none.
  Match Find(Method method, std::string_view path) const;

 private:
  static constexpr std::size_t kMethods = 7;

  /// The routes of one path, by method.
  struct Resource {
    std::vector<std::string> segments;  // an empty one is a placeholder
    std::array<std::optional<std::size_t>, kMethods> routes;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  Resource& ResourceOf(const std::string& pattern);
  const Resource* FindPattern(std::string_view path) const;
  bool Serve(const Resource& resource, Method method, std::string_view path, Match& match) const;

  std::string base_;
  std::vector<Route> routes_;
  std::unordered_map<std::string, Resource, Hash, std::equal_to<>> fixed_;
  std::vector<Resource> patterns_;  // in the order in which they are tried
};

}  // namespace tenure::http
