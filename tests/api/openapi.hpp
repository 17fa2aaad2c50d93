#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/json.hpp"
#include "support/raw_http.hpp"

namespace tenure::api {

/// What the server promises: the checked-in openapi.json, and what contradicts it.
class OpenApi {
 public:
  /// openapi.json of the source tree.
  static const OpenApi& OfTheSource();

  struct Operation {
    std::string method;  ///< in capitals
    std::string path;    ///< with its placeholders
  };
  std::vector<Operation> Operations() const;
  /// The methods that a path answers: those documented, also of a pattern that it fits (a lease may
  /// be called "renew"), and HEAD where GET is.
  std::vector<std::string> MethodsOf(const std::string& path) const;
  std::vector<std::string> Paths() const;

  /// Everything about an answer that is not as documented: status, content type, headers, body.
  /// HEAD is GET without a body; 405 and the 404 of a path that is not documented are problems.
  std::vector<std::string> Complaints(std::string_view method, std::string_view target,
                                      const support::HttpResponse& response) const;
  /// Of an answer that may come before the server knows the path: any problem document.
  std::vector<std::string> ProblemComplaints(const support::HttpResponse& response) const;

  const std::string& text() const { return text_; }

 private:
  OpenApi();
  /// The documented paths that a target fits; a fixed one comes before one with placeholders.
  std::vector<std::string> PatternsOf(std::string_view target) const;
  void CheckResponse(const support::Json& described, std::string_view method,
                     const support::HttpResponse& response,
                     std::vector<std::string>& complaints) const;

  std::string text_;
  support::Json document_;
};

}  // namespace tenure::api
