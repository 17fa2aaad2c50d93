#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.hpp"

/// Why something is as it is, for people: who has it, since when, until when, what comes next. A
/// capability has a pure function `Explain` from what it knows of a thing to an Explanation; page, tool
/// and API show what it says.
namespace tenure::explain {

/// One reason that a thing is as it is, as one or two sentences.
struct Cause {
  std::string_view code{};  ///< "held"
  std::string text{};
  std::int64_t since_ms = 0;  ///< 0: not known, or none
  std::int64_t until_ms = 0;
  std::string link{};  ///< of the page, "/topics/mail"; empty: none
};

/// What happens next, and when, where that is known.
struct Next {
  std::string text{};
  std::int64_t at_ms = 0;
};

/// What an operator can do about it as it is now.
struct Action {
  std::string_view act{};  ///< as the audit names it, "lease.break"
  std::string title{};     ///< "Break nightly-report"
  std::string_view scope{};
  bool danger = false;  ///< it cannot be taken back
  std::string_view method{};
  std::string path{};
  std::string body{"{}"};  ///< a JSON object: what the act needs besides a reason
  std::string command{};   ///< that does the same
};

struct Explanation {
  std::string_view kind{};
  std::string id{};
  std::string state{};
  std::vector<Cause> because{};  ///< the first is the reason that counts
  Next next{};
  std::vector<Action> actions{};
  std::string_view docs{};  ///< "docs/leases.md"

  Explanation& Because(Cause cause) {
    because.push_back(std::move(cause));
    return *this;
  }
  /// All reasons, one behind the other.
  std::string Sentence() const;
};

/// As GET /api/v1/why/{kind}/{id} answers `asker`: what the token does not allow says so.
std::string ToJson(const Explanation& explanation, const http::Principal& asker);

/// A text that somebody else wrote (a name, an error), fit for a sentence: in one line, without what a
/// terminal obeys or a reader cannot see.
std::string Shown(std::string_view text);
/// The same in quotation marks.
std::string Quoted(std::string_view text);
/// One word of a command for a shell.
std::string Word(std::string_view text);
/// One segment of a path.
std::string Segment(std::string_view text);

/// "One message is", "3 messages are".
std::string Counted(std::int64_t count, std::string_view one, std::string_view many);

}  // namespace tenure::explain
