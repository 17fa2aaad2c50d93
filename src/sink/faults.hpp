#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.hpp"

namespace tenure::sink {

/// What a bad receiver does to a request.
struct InjectedFault {
  enum class Kind {
    kStatus,      ///< answers with a status and applies nothing
    kHang,        ///< applies nothing and never answers
    kDropBefore,  ///< applies nothing and closes the connection
    kDropAfter,   ///< applies it and closes the connection without an answer
  };
  Kind kind = Kind::kStatus;
  int status = 0;  ///< of kStatus
};

/// How bad a receiver is, as text: "500:0.3,hang:0.05,drop-after:0.2,refuse-session:<uuid>=422".
///  - STATUS:P, hang:P, drop-before:P, drop-after:P: with probability P (at most six places; they
///    add up to 1 at most) a request meets that;
///  - refuse-session:UUID=STATUS: a request that holds a record of that session is answered so,
///    each time.
/// Empty: none.
class Faults {
 public:
  /// Throws base::UserError that says what is wrong.
  static Faults Parse(std::string_view text);

  /// As it was written.
  const std::string& text() const { return text_; }

  std::optional<int> RefusalOf(const base::Uuid& session) const;
  /// What the next request meets. Takes one number of `random`, always: the same seed and the same
  /// order of requests meet the same faults.
  std::optional<InjectedFault> Draw(std::mt19937_64& random) const;

 private:
  struct Chance {
    InjectedFault fault{};
    std::int64_t millionths = 0;
  };
  struct Refusal {
    base::Uuid session{};
    int status = 0;
  };

  void Take(std::string_view word);
  void TakeRefusal(std::string_view word, std::string_view rest);

  std::string text_{};
  std::vector<Chance> chances_{};
  std::vector<Refusal> refusals_{};
};

}  // namespace tenure::sink
