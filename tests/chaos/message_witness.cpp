#include "message_witness.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "support/json.hpp"

namespace tenure::chaos {
namespace {

std::string Undashed(std::string id) {
  std::erase(id, '-');
  return id;
}

std::map<std::string, std::int64_t> FencesIn(const api::StoreUnderTest& store,
                                             const std::string& table) {
  const bool is_sqlite = store.engine() == api::Engine::kSqlite;
  const std::string rows = store.Execute(
      is_sqlite
          ? "select json_group_array(json_object('id', lower(hex(id)), 'fence', fence)) from " +
                table
          : "select coalesce(json_agg(json_build_object('id', id, 'fence', fence)), '[]') "
            "from tenure." +
                table);
  std::map<std::string, std::int64_t> fences;
  for (const support::Json& row : support::Json::Parse(rows).Elements())
    fences[Undashed(row["id"].Text())] = row["fence"].Int();
  return fences;
}

std::optional<std::int64_t> FenceOf(const std::map<std::string, std::int64_t>& fences,
                                    const std::string& id) {
  const auto found = fences.find(id);
  return found == fences.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

MessageTables ReadMessages(const api::StoreUnderTest& store) {
  return {.done = FencesIn(store, "finished_messages"), .dead = FencesIn(store, "dead_letters")};
}

void MessageWitness::WasAccepted(const std::string& token, const std::string& id) {
  const std::lock_guard lock(mutex_);
  accepted_[token] = Undashed(id);
  Saw(token, id);
}

void MessageWitness::WasRolledBack(const std::string& token) {
  const std::lock_guard lock(mutex_);
  rolled_back_.insert(token);
}

void MessageWitness::WasHandedOut(const std::string& token, const Claimed& claimed,
                                  const std::string& claim) {
  const std::lock_guard lock(mutex_);
  Saw(token, claimed.id);
  claims_[{Undashed(claimed.id), claimed.fence}].insert(claim);
}

void MessageWitness::HadAnEffect(const std::string& token, const std::string& id) {
  const std::lock_guard lock(mutex_);
  Saw(token, id);
}

void MessageWitness::Saw(const std::string& token, const std::string& id) {
  seen_[token].insert(Undashed(id));
}

void MessageWitness::WasAnswered(const Claimed& claimed, Verdict verdict,
                                 const std::string& answer) {
  const std::lock_guard lock(mutex_);
  ++answers_[answer];
  if (answer == "done") carried_out_.push_back({{Undashed(claimed.id), claimed.fence}, verdict});
}

std::vector<std::string> MessageWitness::Lies(const MessageTables& tables) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lies;
  for (const auto& [token, id] : accepted_) {
    const auto places = tables.done.count(id) + tables.dead.count(id);
    if (places != 1) lies.push_back(fmt::format("{} ({}) ended {} times", token, id, places));
  }
  for (const auto& [token, ids] : seen_) {
    if (ids.size() > 1) lies.push_back(fmt::format("{} became {} messages", token, ids.size()));
    if (rolled_back_.contains(token)) lies.push_back(token + " was rolled back, and appeared");
  }
  for (const auto& [claimed, claims] : claims_)
    if (claims.size() > 1)
      lies.push_back(fmt::format("{} was handed to {} claims under fence {}", claimed.id,
                                 claims.size(), claimed.fence));
  std::set<Claimed> reported;
  for (const auto& [claimed, verdict] : carried_out_) {
    const auto& [id, fence] = claimed;
    if (!reported.insert(claimed).second)
      lies.push_back(fmt::format("two reports on {} under fence {} were accepted", id, fence));
    const auto done = FenceOf(tables.done, id);
    const auto dead = FenceOf(tables.dead, id);
    if (verdict == Verdict::kDone && done != fence)
      lies.push_back(fmt::format("{} was acknowledged under {}, but is not done so", id, fence));
    if (verdict == Verdict::kDead && dead != fence)
      lies.push_back(fmt::format("{} failed under {}, but is not dead so", id, fence));
    if (verdict == Verdict::kRetry && done.value_or(dead.value_or(0)) <= fence)
      lies.push_back(fmt::format("{} was given up under {}, and ended all the same", id, fence));
  }
  return lies;
}

std::size_t MessageWitness::Accepted() const {
  const std::lock_guard lock(mutex_);
  return accepted_.size();
}

std::set<std::string> MessageWitness::AcceptedWith(const std::string& prefix) const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> ids;
  for (const auto& [token, id] : accepted_)
    if (token.starts_with(prefix)) ids.insert(id);
  return ids;
}

std::int64_t MessageWitness::Answers(const std::string& answer) const {
  const std::lock_guard lock(mutex_);
  const auto found = answers_.find(answer);
  return found == answers_.end() ? 0 : found->second;
}

std::string MessageWitness::Summary() const {
  const std::lock_guard lock(mutex_);
  std::string text = fmt::format("{} messages accepted, {} rolled back; reports:", accepted_.size(),
                                 rolled_back_.size());
  for (const auto& [answer, count] : answers_) text += fmt::format(" {} {}", count, answer);
  return text;
}

}  // namespace tenure::chaos
