#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "inbox/inbox.hpp"
#include "inbox_sql/queries.hpp"
#include "store/test_store.hpp"

namespace tenure::inbox {

/// The term of a test's n-th delivery.
inline base::Uuid Term(int n) {
  base::Uuid term;
  term.bytes[0] = 0x70;
  term.bytes[15] = static_cast<std::uint8_t>(n);
  return term;
}

/// One process on a test's store, driven by hand: every call runs the lanes until it is answered.
class TestProcess {
 public:
  explicit TestProcess(store::TestStore& test_store, const Budget& budget = {})
      : store_(test_store.NewProcess()), inbox_(*store_, budget, test_store.metrics()) {}

  struct Ask {
    std::string hash{};
    std::int64_t lease_ms = 1'000;
    std::optional<base::Uuid> term{};
    std::string source = "github";
    std::string tenant = "default";
  };
  static BeginCommand Command(const std::string& id, const Ask& ask) {
    return {{ask.tenant, ask.source, id}, ask.hash, ask.lease_ms, ask.term};
  }
  BeginOutcome Begin(const std::string& id) { return Begin(id, Ask()); }
  BeginOutcome Begin(const std::string& id, const Ask& ask) {
    return Await<BeginOutcome>(
        [&](auto done) { inbox_.Begin(Command(id, ask), nullptr, std::move(done)); });
  }
  FinishOutcome Complete(const std::string& id, std::int64_t fence,
                         const std::string& result = "") {
    return Await<FinishOutcome>([&](auto done) {
      inbox_.Complete({Key(id), fence, result}, nullptr, std::move(done));
    });
  }
  FinishOutcome Fail(const std::string& id, std::int64_t fence, const std::string& error = "no") {
    return Await<FinishOutcome>([&](auto done) {
      inbox_.Fail({Key(id), fence, error}, nullptr, std::move(done));
    });
  }
  std::optional<EntryRow> Find(const std::string& id) {
    return Await<FindReply>([&](auto done) { inbox_.Find({Key(id)}, nullptr, std::move(done)); })
        .entry;
  }
  TidyReply Tidy(std::int64_t retention_ms) {
    return Await<TidyReply>(
        [&](auto done) { inbox_.TidySome({retention_ms}, {}, std::move(done)); });
  }
  std::int64_t CountStuck() {
    return Await<CountReply>([&](auto done) { inbox_.CountStuck(std::move(done)); }).stuck;
  }

  static MessageKey Key(const std::string& id) { return {"default", "github", id}; }
  Inbox& inbox() { return inbox_; }
  db::Store& store() { return *store_; }

 private:
  template <class Reply, class Submit>
  Reply Await(Submit submit) {
    std::optional<db::Result<Reply>> answer;
    submit([&](db::Result<Reply> result) { answer = std::move(result); });
    store::Drive(*store_);
    if (!answer->ok()) throw answer->fault();
    return std::move(answer->value());
  }

  std::unique_ptr<db::Store> store_;
  Inbox inbox_;
};

}  // namespace tenure::inbox
