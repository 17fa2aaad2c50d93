#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/task.hpp"

namespace tenure::base {

/// What a caller claims: that this fence is of the live grant of this lease.
struct Fence {
  std::string tenant{};
  std::string name{};
  std::int64_t fence = 0;

  friend auto operator<=>(const Fence&, const Fence&) = default;
};

/// Who answers for a change that goes on record (the audit), and what was asked for.
struct Actor {
  std::string act{};  ///< "lease.break"
  std::string tenant{};
  std::string person{};
  std::string address{};  ///< where the request came from; empty: not known
  std::string request_id{};
  std::string reason{};  ///< why, in that person's words; empty: not said
};

/// Who asks for a change: where the answer goes, and under which fences the change may happen. A
/// change happens only while all of them are of live grants, decided in its own transaction.
struct Caller {
  Caller() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most callers are nothing more
  Caller(Executor* executor) : home(executor) {}
  Caller(Executor* executor, std::vector<Fence> claimed)
      : home(executor), fences(std::move(claimed)) {}

  Executor* home = nullptr;  ///< where the callback runs; null: on a lane's own thread
  std::vector<Fence> fences{};
  std::shared_ptr<const Actor> actor{};  ///< null: what is changed does not go on record
};

/// What makes a request the same request: who sent it where under which key, and what it said.
struct IdempotencyKey {
  std::string name{};       ///< tenant, person, operation and the client's key, as one text
  std::string body_hash{};  ///< of the body and the path's parameters

  std::size_t bytes() const { return name.size() + body_hash.size(); }
};

/// The answer to a request as its client saw it, kept with what the request changed.
struct StoredAnswer {
  std::int64_t status = 0;
  std::string body{};
  std::string location{};  ///< empty: none
};

struct KeyOfAnotherRequest {};  ///< the key was used for a request that said something else
struct KeyUnderWay {};          ///< the first request with this key is not decided yet

/// What became of a request with an idempotency key: it was carried out now, or it was before and
/// was answered so, or it cannot be told.
template <class Reply>
using IdempotentReply = std::variant<Reply, StoredAnswer, KeyOfAnotherRequest, KeyUnderWay>;

}  // namespace tenure::base
