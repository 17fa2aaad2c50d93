#include "inbox/change.hpp"

#include "inbox/batch.hpp"

namespace tenure::inbox {
namespace {

void WantKey(Entries& entries, const Command& command) {
  std::visit(
      [&](const auto& one) {
        using Use = Entries::Use;
        entries.Want(one.key,
                     std::holds_alternative<BeginCommand>(command) ? Use::kBegin : Use::kFinish);
      },
      command);
}

Outcome Decide(Entries& entries, const Command& command) {
  struct Visitor {
    Entries& entries;
    Outcome operator()(const BeginCommand& begin) const {
      return entries.At(begin.key).Begin(begin);
    }
    Outcome operator()(const CompleteCommand& complete) const {
      return entries.At(complete.key).Complete(complete);
    }
    Outcome operator()(const FailCommand& fail) const { return entries.At(fail.key).Fail(fail); }
  };
  return std::visit(Visitor{entries}, command);
}

}  // namespace

std::size_t ChangeRequest::bytes() const {
  if (const auto* complete = std::get_if<CompleteCommand>(&command)) return complete->result.size();
  if (const auto* fail = std::get_if<FailCommand>(&command)) return fail->error.size();
  return 0;
}

/// What needs no change. A delivery whose hash is the first that comes is left for the locks.
void ChangeHandler::ReadItems(db::Transaction& tx, Items items) {
  Entries entries(budget_);
  bool any = false;
  for (const auto* item : items) {
    if (!std::holds_alternative<BeginCommand>(item->request.command)) continue;
    WantKey(entries, item->request.command);
    any = true;
  }
  if (!any) return;
  entries.Look(tx);
  for (auto* item : items) {
    const auto* begin = std::get_if<BeginCommand>(&item->request.command);
    if (!begin) continue;
    const Entry& entry = entries.At(begin->key);
    if (entry.LearnsHash(*begin)) continue;
    if (auto answer = entry.Answer(*begin)) item->reply = ChangeReply{std::move(*answer)};
  }
}

void ChangeHandler::WriteItems(db::Transaction& tx, Items items) {
  Entries entries(budget_);
  for (const auto* item : items) WantKey(entries, item->request.command);
  entries.Open(tx);
  for (auto* item : items) item->reply = ChangeReply{Decide(entries, item->request.command)};
  entries.Apply(tx);
}

void ChangeHandler::DoneItems(Items items) {
  for (const auto* item : items) {
    if (const auto* begun = std::get_if<BeginOutcome>(&item->reply->outcome))
      probe_.Begun(*begun);
    else
      probe_.Finished(std::get<FinishOutcome>(item->reply->outcome));
  }
}

}  // namespace tenure::inbox
