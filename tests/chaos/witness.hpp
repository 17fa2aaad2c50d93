#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "api/api.hpp"
#include "api/history.hpp"
#include "support/json.hpp"

namespace tenure::chaos {

/// What all clients together were told. Threads may share it.
class Witness {
 public:
  /// A 2xx answer to PUT: this session exists, with this kind and start.
  void WasTold(const support::Json& session);
  /// A 2xx answer to DELETE: this session has ended.
  void WasToldEnded(const std::string& id);
  /// Anything may have become of this PUT: `outcome-unknown`, or a connection that was lost.
  void MayHaveHappened(const api::Key& key);
  /// A 503 that says that nothing happened.
  void DidNotHappen(const api::Key& key);
  /// A 503 of this type.
  void WasRefused(const std::string& type);

  /// What the clients were told and the tables do not bear out, in sentences: principle 3, and that
  /// a key of which every PUT "did not happen" has no session.
  std::vector<std::string> Lies(const std::vector<api::SessionRow>& rows) const;
  /// Keys whose last outcome is not known.
  std::vector<api::Key> Unknown() const;
  std::size_t Sessions() const;
  /// How many answers of each kind there were, for the log.
  std::string Summary() const;

 private:
  struct Told {
    std::string user;
    std::string tenant;
    std::string capacity;
    std::int64_t kind;
    std::int64_t start_ms;
    std::string previous;  // that it replaced; empty: none
  };

  mutable std::mutex mutex_;  // guards all below
  std::map<std::string, Told> told_;
  std::set<std::string> ended_;
  std::vector<api::Key> unknown_;
  std::set<std::string> touched_;   // users of a PUT that happened or may have
  std::set<std::string> declined_;  // users of a PUT that did not happen
  std::map<std::string, int> answers_;
};

}  // namespace tenure::chaos
