#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/router.hpp"

namespace tenure::http {

/// Routes that have something in common, one row each. `Parts` is what their handlers work with: a
/// reference to a capability, or a small struct of references; it must outlive the router.
///
///   RouteGroup<Leases&>(router, leases, {.path = "/api/v1/leases", .rate_class = "leases"})
///       .Add({{Method::kGet, "", "listLeases", "leases:read", List},
///             {Method::kPost, "/{name}/break", "breakLease", "admin", Break}});
template <class Parts>
class RouteGroup {
 public:
  /// What every row has; see Route.
  struct Common {
    std::string path{};  ///< goes before the rows' own
    std::string rate_class{};
    bool encoded_slash = false;
    std::string_view span_result{};
    std::vector<std::pair<std::string_view, std::string_view>> span_attributes{};
    std::size_t max_body_bytes = 0;
    std::vector<std::string_view> content_types{};
  };
  struct Row {
    Method method;
    std::string path;
    std::string operation;
    std::string scope;
    void (*handle)(const Parts&, const ExchangePtr&);  // of a reference: the reference
    std::string span = {};
    std::vector<std::string> acts = {};
  };

  RouteGroup(Router& router, const Parts& parts, Common common)
      : router_(router), parts_(parts), common_(std::move(common)) {}

  void Add(std::initializer_list<Row> rows) {
    for (const Row& row : rows)
      router_.Add({.method = row.method,
                   .pattern = common_.path + row.path,
                   .operation = row.operation,
                   .scope = row.scope,
                   .handler = Bound{parts_, row.handle},
                   .encoded_slash = common_.encoded_slash,
                   .rate_class = common_.rate_class,
                   .span = row.span,
                   .span_result = common_.span_result,
                   .span_attributes = common_.span_attributes,
                   .max_body_bytes = common_.max_body_bytes,
                   .content_types = common_.content_types,
                   .acts = row.acts});
  }

 private:
  struct Bound {
    Parts parts;
    void (*handle)(const Parts&, const ExchangePtr&);
    void operator()(const ExchangePtr& exchange) const { handle(parts, exchange); }
  };

  Router& router_;
  const Parts parts_;
  const Common common_;
};

}  // namespace tenure::http
