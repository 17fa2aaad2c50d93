#include "http/router.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/utf8.hpp"
#include "http/text.hpp"

namespace tenure::http {
namespace {

constexpr std::string_view kRest = "*";  // no path can match it: it would be sent as %2A

constexpr std::size_t Index(Method method) { return static_cast<std::size_t>(method); }

/// Takes the first segment of a path "/a/b" off it.
std::string_view TakeSegment(std::string_view& path) {
  path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

bool IsPlaceholder(std::string_view segment) {
  return segment.starts_with('{') && segment.ends_with('}');
}

/// A placeholder becomes the empty segment, which no path can match by its text.
std::vector<std::string> Segments(std::string_view pattern) {
  std::vector<std::string> segments;
  while (!pattern.empty()) {
    const std::string_view segment = TakeSegment(pattern);
    segments.emplace_back(segment == "{*}"         ? kRest
                          : IsPlaceholder(segment) ? std::string_view()
                                                   : segment);
  }
  return segments;
}

bool Fits(const std::vector<std::string>& segments, std::string_view path) {
  for (const std::string& wanted : segments) {
    if (path.empty()) return false;
    if (wanted == kRest) return true;
    const std::string_view segment = TakeSegment(path);
    if (segment.empty() || (!wanted.empty() && wanted != segment)) return false;
  }
  return path.empty();
}

std::string DecodeParameter(std::string_view segment, bool encoded_slash) {
  auto decoded = PercentDecode(segment, PlusSign::kLiteral);
  if (!decoded || !base::IsStorableText(*decoded) ||
      (!encoded_slash && decoded->find('/') != std::string::npos))
    throw ProblemError({.status = 400,
                        .type = "invalid-request",
                        .title = "The request is not valid",
                        .detail = "A segment of the path is not percent-encoded UTF-8 text."});
  return *std::move(decoded);
}

std::vector<std::string> Parameters(const std::vector<std::string>& segments, std::string_view path,
                                    bool encoded_slash) {
  std::vector<std::string> parameters;
  for (const std::string& wanted : segments) {
    if (wanted == kRest) {
      parameters.emplace_back(path.substr(1));
      break;
    }
    const std::string_view segment = TakeSegment(path);
    if (wanted.empty()) parameters.push_back(DecodeParameter(segment, encoded_slash));
  }
  return parameters;
}

}  // namespace

void Router::Add(Route route) {
  TENURE_CHECK(route.pattern.starts_with('/'), "a route's pattern starts with a slash");
  TENURE_CHECK(!route.scope.empty(), fmt::format("{} has no scope", route.pattern));
  auto& slot = ResourceOf(route.pattern).routes[Index(route.method)];
  TENURE_CHECK(!slot, fmt::format("{} {} has two routes", ToText(route.method), route.pattern));
  slot = routes_.size();
  routes_.push_back(std::move(route));
}

Router::Resource& Router::ResourceOf(const std::string& pattern) {
  std::vector<std::string> segments = Segments(pattern);
  const bool varies =
      segments.back() == kRest || std::find(segments.begin(), segments.end(), "") != segments.end();
  if (!varies || pattern.ends_with('/'))
    return fixed_.try_emplace(pattern, Resource()).first->second;

  // Fixed segments come before placeholders: a placeholder is empty, so the greater text is tried
  // first.
  const auto place = std::find_if(patterns_.begin(), patterns_.end(), [&](const Resource& other) {
    return other.segments <= segments;
  });
  if (place != patterns_.end() && place->segments == segments) return *place;
  return *patterns_.insert(place, Resource{std::move(segments), {}});
}

const Router::Resource* Router::FindPattern(std::string_view path) const {
  if (!path.starts_with('/')) return nullptr;
  for (const Resource& resource : patterns_)
    if (Fits(resource.segments, path)) return &resource;
  return nullptr;
}

Router::Match Router::Find(Method method, std::string_view path) const {
  if (!base_.empty() && path.starts_with(base_)) {
    const std::string_view below = path.substr(base_.size());
    if (below.empty()) path = "/";
    if (below.starts_with('/')) path = below;
  }
  const auto fixed = fixed_.find(path);
  Match match;
  if (fixed != fixed_.end() && Serve(fixed->second, method, path, match)) return match;
  // "POST /leases/renew" must not hide "GET /leases/{name}" of a lease with that name.
  if (const Resource* const pattern = FindPattern(path)) Serve(*pattern, method, path, match);
  if (match.route) match.allowed.clear();
  return match;
}

/// Fills `match` when the resource has the method, and says what it has otherwise.
bool Router::Serve(const Resource& resource, Method method, std::string_view path,
                   Match& match) const {
  auto index = resource.routes[Index(method)];
  if (!index && method == Method::kHead) index = resource.routes[Index(Method::kGet)];
  if (index) {
    match.route = &routes_[*index];
    if (!resource.segments.empty())
      match.path_parameters = Parameters(resource.segments, path, match.route->encoded_slash);
    return true;
  }
  for (std::size_t i = 0; i < kMethods; ++i) {
    if (!resource.routes[i]) continue;
    match.allowed.push_back(static_cast<Method>(i));
    if (i == Index(Method::kGet) && !resource.routes[Index(Method::kHead)])
      match.allowed.push_back(Method::kHead);
  }
  return false;
}

}  // namespace tenure::http
