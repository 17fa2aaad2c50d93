#include "webhooks/hooks.hpp"

#include <algorithm>

#include "webhooks_sql/queries.hpp"

namespace tenure::webhooks {

void NoteHooks(db::Transaction& tx, db::Items<NoteHooksRequest, NoteHooksReply> items) {
  for (auto* item : items) {
    const NoteHooksRequest& request = item->request;
    tx.Queue(sql::kNoteHooks, db::Columns(request.hooks, &Hook::source, &Hook::hook,
                                          &Hook::delivered_ms, &Hook::pinged_ms));
    tx.Queue(sql::kNoteRefusals,
             db::Columns(request.refused, &SourceRefusals::source, &SourceRefusals::count));
    item->reply.emplace();
  }
}

void ReadHooks(db::Transaction& tx, db::Items<HooksRequest, HooksReply> items) {
  for (auto* item : items) {
    HooksReply& reply = item->reply.emplace();
    for (const std::string& source : item->request.sources) {
      for (const auto row : tx.Run(sql::kReadHooks, std::string_view(source)))
        reply.hooks.push_back({source, std::string(row.Text(0)), row.Int(1), row.Int(2)});
      for (const auto row : tx.Run(sql::kReadRefusals, std::string_view(source)))
        reply.refused.push_back({source, row.Int(0)});
    }
  }
}

HookNotes::Times* HookNotes::Find(const std::string& source, const std::string& hook) {
  const auto found = hooks_.find({source, hook});
  if (found != hooks_.end()) return &found->second;
  if (hooks_.size() >= kMaxHooks) return nullptr;
  return &hooks_[{source, hook}];
}

void HookNotes::Delivered(const std::string& source, const std::string& hook, std::int64_t now_ms) {
  const base::Lock lock(mutex_);
  if (Times* const times = Find(source, hook))
    times->delivered_ms = std::max(times->delivered_ms, now_ms);
}

void HookNotes::Pinged(const std::string& source, const std::string& hook, std::int64_t now_ms) {
  const base::Lock lock(mutex_);
  if (Times* const times = Find(source, hook))
    times->pinged_ms = std::max(times->pinged_ms, now_ms);
}

void HookNotes::Refused(const std::string& source) {
  const base::Lock lock(mutex_);
  ++refused_[source];
}

NoteHooksRequest HookNotes::Take() {
  NoteHooksRequest taken;
  const base::Lock lock(mutex_);
  for (const auto& [key, times] : hooks_)
    taken.hooks.push_back({key.first, key.second, times.delivered_ms, times.pinged_ms});
  for (const auto& [source, count] : refused_) taken.refused.push_back({source, count});
  hooks_.clear();
  refused_.clear();
  return taken;
}

void HookNotes::PutBack(const NoteHooksRequest& taken) {
  for (const Hook& hook : taken.hooks) {
    Delivered(hook.source, hook.hook, hook.delivered_ms);
    Pinged(hook.source, hook.hook, hook.pinged_ms);
  }
  const base::Lock lock(mutex_);
  for (const SourceRefusals& refused : taken.refused) refused_[refused.source] += refused.count;
}

}  // namespace tenure::webhooks
