#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "inbox/inbox.hpp"
#include "inbox_sql/queries.hpp"
#include "store/process.hpp"

namespace tenure::inbox {

/// The term of a test's n-th delivery.
inline base::Uuid Term(int n) {
  base::Uuid term;
  term.bytes[0] = 0x70;
  term.bytes[15] = static_cast<std::uint8_t>(n);
  return term;
}

class TestProcess final : public store::Process {
 public:
  explicit TestProcess(store::TestStore& test_store, const Budget& budget = {})
      : Process(test_store), inbox_(store(), budget, test_store.metrics()) {}

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
    return Call(inbox_, &Inbox::Begin, Command(id, ask));
  }
  FinishOutcome Complete(const std::string& id, std::int64_t fence,
                         const std::string& result = "") {
    return Call(inbox_, &Inbox::Complete, {Key(id), fence, result});
  }
  FinishOutcome Fail(const std::string& id, std::int64_t fence, const std::string& error = "no") {
    return Call(inbox_, &Inbox::Fail, {Key(id), fence, error});
  }
  std::optional<MessageRow> Find(const std::string& id) {
    return Call(inbox_, &Inbox::Find, {Key(id)}).entry;
  }
  db::Swept Tidy(std::int64_t retention_ms) {
    return Call(inbox_, &Inbox::TidySome, {retention_ms});
  }
  std::int64_t CountStuck() { return Call(inbox_, &Inbox::CountStuck); }

  static MessageKey Key(const std::string& id) { return {"default", "github", id}; }
  Inbox& inbox() { return inbox_; }

 private:
  Inbox inbox_;
};

}  // namespace tenure::inbox
