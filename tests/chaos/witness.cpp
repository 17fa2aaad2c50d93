#include "witness.hpp"

namespace tenure::chaos {

using api::SessionRow;

void Witness::WasTold(const support::Json& session) {
  const Told told{session["userObjectId"].Text(),
                  session["tenantObjectId"].Text(),
                  session["capacityId"].Text(),
                  session["sessionKind"].Int(),
                  api::TimeMs(session["sessionStartUtc"].Text()),
                  session.Has("previousSessionId") ? session["previousSessionId"].Text() : ""};
  const std::lock_guard lock(mutex_);
  ++answers_[session["status"].Text()];
  touched_.insert(told.user);
  Told& known = told_.try_emplace(session["sessionId"].Text(), told).first->second;
  if (!told.previous.empty()) known.previous = told.previous;
}

void Witness::WasToldEnded(const std::string& id) {
  const std::lock_guard lock(mutex_);
  ++answers_["deleted"];
  ended_.insert(id);
}

void Witness::MayHaveHappened(const api::Key& key) {
  const std::lock_guard lock(mutex_);
  unknown_.push_back(key);
  touched_.insert(key.user);
}

void Witness::DidNotHappen(const api::Key& key) {
  const std::lock_guard lock(mutex_);
  declined_.insert(key.user);
}

void Witness::WasRefused(const std::string& type) {
  const std::lock_guard lock(mutex_);
  ++answers_["503 " + type];
}

std::vector<std::string> Witness::Lies(const std::vector<SessionRow>& rows) const {
  std::map<std::string, SessionRow> stored;
  for (const SessionRow& row : rows) stored[row.id] = row;
  std::vector<std::string> lies;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, told] : told_) {
    const auto found = stored.find(id);
    if (found == stored.end()) {
      lies.push_back("session " + id + " was answered and is lost");
      continue;
    }
    const SessionRow& row = found->second;
    const bool same = row.user == told.user && row.tenant == told.tenant &&
                      row.capacity == told.capacity && row.kind == told.kind &&
                      row.start_ms == told.start_ms;
    if (!same) lies.push_back("session " + id + " is not what was answered");
    if (told.previous.empty()) continue;
    const auto previous = stored.find(told.previous);
    if (previous == stored.end() || previous->second.end_ms != told.start_ms)
      lies.push_back("session " + id + " was said to replace " + told.previous);
  }
  for (const SessionRow& row : rows)
    if (declined_.contains(row.user) && !touched_.contains(row.user))
      lies.push_back("session " + row.id +
                     " is there though its PUT was said not to have happened");
  for (const std::string& id : ended_)
    if (const auto found = stored.find(id); found == stored.end() || found->second.IsOpen())
      lies.push_back("session " + id + " was said to have ended and has not");
  return lies;
}

std::vector<api::Key> Witness::Unknown() const {
  const std::lock_guard lock(mutex_);
  return unknown_;
}

std::size_t Witness::Sessions() const {
  const std::lock_guard lock(mutex_);
  return told_.size();
}

std::string Witness::Summary() const {
  const std::lock_guard lock(mutex_);
  std::string text = std::to_string(told_.size()) + " sessions, " +
                     std::to_string(unknown_.size()) + " outcomes unknown";
  for (const auto& [what, count] : answers_) text += ", " + std::to_string(count) + " " + what;
  return text;
}

}  // namespace tenure::chaos
