#include "inbox/probe.hpp"

namespace tenure::inbox {
namespace {

constexpr const char* kFinished = "tenure_inbox_finish_total";
constexpr const char* kFinishedHelp = "Completions and failures that were reported, by result.";

}  // namespace

Probe::Probe(telemetry::Registry& metrics)
    : completed_(metrics.GetCounter(kFinished, kFinishedHelp, {{"result", "completed"}})),
      failed_(metrics.GetCounter(kFinished, kFinishedHelp, {{"result", "failed"}})),
      stale_(metrics.GetCounter(kFinished, kFinishedHelp, {{"result", "stale"}})),
      unknown_(metrics.GetCounter(kFinished, kFinishedHelp, {{"result", "unknown"}})),
      busy_(metrics.GetCounter(kFinished, kFinishedHelp, {{"result", "busy"}})),
      dead_(metrics.GetCounter("tenure_inbox_dead_total",
                               "Messages that were given up: their budget was spent.")),
      forgotten_(metrics.GetCounter("tenure_inbox_forgotten_total",
                                    "Entries that were removed after their retention.")),
      stuck_(metrics.GetGauge("tenure_inbox_stuck",
                              "Claims overdue for five minutes and not delivered again since, "
                              "counted every minute.")) {
  using Kind = BeginOutcome::Kind;
  for (const Kind kind :
       {Kind::kProcess, Kind::kInProgress, Kind::kDone, Kind::kConflict, Kind::kDead})
    begun_[static_cast<std::size_t>(kind)] =
        &metrics.GetCounter("tenure_inbox_begin_total", "Deliveries, by what they were told.",
                            {{"outcome", std::string(ToText(kind))}});
}

void Probe::Begun(const BeginOutcome& outcome) {
  begun_[static_cast<std::size_t>(outcome.kind)]->Add();
  if (outcome.died) dead_.Add();
}

void Probe::Finished(const FinishOutcome& outcome) {
  switch (outcome.kind) {
    case FinishOutcome::Kind::kAccepted:
      (outcome.state == State::kDone ? completed_ : failed_).Add();
      break;
    case FinishOutcome::Kind::kStale:
      stale_.Add();
      break;
    case FinishOutcome::Kind::kUnknown:
      unknown_.Add();
      break;
    case FinishOutcome::Kind::kBusy:
      busy_.Add();
      break;
  }
  if (outcome.died) dead_.Add();
}

}  // namespace tenure::inbox
