#include "push/circuit.hpp"

#include <algorithm>

namespace tenure::push {
namespace {

std::int64_t Doubled(std::int64_t first_ms, std::int64_t times, std::int64_t most_ms) {
  return std::min(first_ms << std::min<std::int64_t>(times, 20), most_ms);
}

}  // namespace

std::string_view ToText(CircuitState state) {
  switch (state) {
    case CircuitState::kOk:
      return "ok";
    case CircuitState::kBackingOff:
      return "backing_off";
    case CircuitState::kOpen:
      return "open";
  }
  return "ok";
}

std::int64_t PauseAfterFailures(std::int64_t failures) {
  if (failures < Circuit::kOpenAfter)
    return Doubled(Circuit::kBackoffMs, failures - 1, Circuit::kBackoffMaxMs);
  return Doubled(Circuit::kProbeMs, failures - Circuit::kOpenAfter, Circuit::kProbeMaxMs);
}

bool Circuit::End(Ticket ticket, const Judgement& judgement, std::int64_t now_ms) {
  const CircuitRow before = row_;
  switch (judgement.kind) {
    case AnswerKind::kAcknowledged:
      // One that began before the last failure says nothing of what came after it.
      if (ticket != generation_) break;
      row_.failures = 0;
      // A pause that another request was told to make goes on.
      if (row_.next_ms <= now_ms) row_.next_ms = 0;
      break;
    case AnswerKind::kEndpointFault:
      if (ticket != generation_) break;
      ++generation_;
      ++row_.failures;
      row_.next_ms = std::max(row_.next_ms, now_ms + PauseAfterFailures(row_.failures));
      break;
    case AnswerKind::kHold:
      row_.next_ms = std::max(row_.next_ms, now_ms + judgement.hold_ms);
      break;
    case AnswerKind::kMessageFault:
      // It answered, but that is not the 2xx which closes a circuit: the next probe in its time.
      if (row_.failures >= kOpenAfter && ticket == generation_)
        row_.next_ms = std::max(row_.next_ms, now_ms + PauseAfterFailures(row_.failures));
      break;
    case AnswerKind::kDisable:
    case AnswerKind::kDropped:
      break;
  }
  return row_ != before;
}

std::int64_t Circuit::MayBeUnderWay(std::int64_t max_in_flight, std::int64_t now_ms) const {
  if (now_ms < row_.next_ms) return 0;
  return row_.failures > 0 ? std::min<std::int64_t>(1, max_in_flight) : max_in_flight;
}

CircuitState Circuit::StateOf(const CircuitRow& row, std::int64_t now_ms) {
  if (row.failures >= kOpenAfter) return CircuitState::kOpen;
  if (row.failures > 0 || now_ms < row.next_ms) return CircuitState::kBackingOff;
  return CircuitState::kOk;
}

}  // namespace tenure::push
