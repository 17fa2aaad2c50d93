#include "usage/chunk_delivery.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "tasks/task.hpp"
#include "usage_sql/queries.hpp"

namespace tenure::usage {
namespace {

constexpr std::size_t kAnswerShown = 500;

std::vector<Chunk> Halves(const Chunk& chunk, const std::vector<sessions::Session>& sessions) {
  const std::size_t middle = sessions.size() / 2;
  std::vector<Chunk> halves(2, chunk);
  for (int i = 0; i < 2; ++i)
    halves[static_cast<std::size_t>(i)].name.chunk += fmt::format(".{}", i);
  halves[0].last_id = sessions[middle - 1].id;
  halves[0].records = static_cast<std::int64_t>(middle);
  halves[1].first_id = sessions[middle].id;
  halves[1].records = static_cast<std::int64_t>(sessions.size() - middle);
  return halves;
}

/// For people: what the receiver said, shortened, and always text.
std::string Shown(const PostReply& reply) {
  if (reply.status == 0) return reply.error;
  std::string body = reply.body.substr(0, kAnswerShown);
  if (!base::IsStorableText(body))
    body = fmt::format("({} bytes that are not text)", reply.body.size());
  return fmt::format("{}{}{}", reply.status, body.empty() ? "" : ": ", body);
}

}  // namespace

std::string KeyOf(std::string_view installation, std::int64_t incarnation, const ChunkName& name) {
  return fmt::format("{}.{}-{}", installation, incarnation, ToText(name));
}

Meaning MeaningOf(int status) {
  if (status >= 200 && status < 300) return Meaning::kTaken;
  if (status == 400 || status == 413 || status == 422) return Meaning::kRefused;
  return Meaning::kTryAgain;
}

messages::EnqueueEffect ChangeHandler::WriteItems(db::Transaction& tx, Items items) {
  // A chunk may come twice: two who held its message. What the first one says counts.
  std::map<ChunkName, const ChunkChange*> changes;
  for (auto* item : items) {
    item->reply = ChunkChangeReply{};
    changes.emplace(item->request.name, &item->request);
  }
  std::vector<const ChunkChange*> struck, refused;
  for (const auto& [name, change] : changes)
    (change->kind == ChunkChange::Kind::kRefused ? refused : struck).push_back(change);
  const auto name = db::Inside(&ChunkChange::name, kNameColumns);
  const auto deleted = tx.Queue(sql::kDeleteChunks, db::Columns(struck, name));
  const auto clock = tx.QueueClock();
  std::vector<Chunk> halves;
  for (const auto row : tx.Take(deleted))
    for (const Chunk& half : struck[row.ordinal()]->halves) halves.push_back(half);
  tx.Queue(sql::kRefuseChunks, db::Columns(refused, name, &ChunkChange::answer),
           tx.TakeClock(clock));
  if (halves.empty()) return {};
  InsertChunks(tx, halves);
  const messages::EnqueueRequest request = ChunkMessages(halves);
  const messages::EnqueueRequest* requests[] = {&request};
  messages::Enqueuer enqueuer(topic_cache_, process_);
  enqueuer.Add(tx, requests);
  return enqueuer.effect();
}

struct ChunkDelivery::Journey {
  messages::ClaimedMessage message;
  base::UniqueFunction<Delivered> done;
  LoadReply loaded{};
  Delivered delivered{};

  void End(ChunkOutcome outcome) {
    delivered.outcome = outcome;
    done(std::move(delivered));
  }
};

void ChunkDelivery::Deliver(const messages::ClaimedMessage& message,
                            base::UniqueFunction<Delivered> done) const {
  auto journey = std::make_shared<Journey>(Journey{message, std::move(done)});
  const auto name = ParseChunkName(message.correlation_id);
  if (!name) {
    journey->delivered.error = "the message names no chunk";
    journey->delivered.outcome = ChunkOutcome::kRefused;
    return Finish(journey, messages::Disposition::kDead);
  }
  parts_.load(
      *name, [this, journey](db::Result<LoadReply> result) { Loaded(journey, std::move(result)); });
}

void ChunkDelivery::Loaded(const JourneyPtr& journey, db::Result<LoadReply> result) const {
  if (!result.ok()) return journey->End(ChunkOutcome::kDropped);
  journey->loaded = std::move(result.value());
  if (!journey->loaded.chunk) {
    journey->delivered.outcome = ChunkOutcome::kSkipped;
    return Finish(journey, messages::Disposition::kDone);
  }
  const Chunk& chunk = *journey->loaded.chunk;
  journey->delivered.records = chunk.records;
  const std::size_t found = journey->loaded.material.sessions.size();
  if (static_cast<std::int64_t>(found) != chunk.records) {
    // Somebody changed the sessions behind our back. A wrong sum is not sent.
    journey->delivered.error =
        fmt::format("window {} has changed: {} sessions instead of {} in chunk {}",
                    chunk.name.number, found, chunk.records, chunk.name.chunk);
    journey->delivered.outcome = ChunkOutcome::kFailed;
    return Finish(journey, messages::Disposition::kRetry);
  }
  Post post{KeyOf(parts_.installation, journey->loaded.material.window.incarnation, chunk.name),
            RecordsJson(journey->loaded.material)};
  parts_.post(std::move(post),
              [this, journey](PostReply reply) { Answered(journey, std::move(reply)); });
}

void ChunkDelivery::Answered(const JourneyPtr& journey, PostReply reply) const {
  const Chunk& chunk = *journey->loaded.chunk;
  Delivered& delivered = journey->delivered;
  switch (MeaningOf(reply.status)) {
    case Meaning::kTaken:
      delivered.outcome = ChunkOutcome::kAcknowledged;
      return Change(journey, {.name = chunk.name}, messages::Disposition::kDone);
    case Meaning::kRefused:
      if (chunk.records > 1) {
        delivered.outcome = ChunkOutcome::kHalved;
        return Change(journey,
                      {.name = chunk.name,
                       .kind = ChunkChange::Kind::kHalve,
                       .halves = Halves(chunk, journey->loaded.material.sessions)},
                      messages::Disposition::kDone);
      }
      delivered.outcome = ChunkOutcome::kRefused;
      delivered.error = Shown(reply);
      return Change(
          journey,
          {.name = chunk.name, .kind = ChunkChange::Kind::kRefused, .answer = delivered.error},
          messages::Disposition::kDead);
    case Meaning::kTryAgain:
      delivered.outcome = ChunkOutcome::kFailed;
      delivered.error = Shown(reply);
      delivered.retry_after_ms = reply.retry_after_ms;
      return Finish(journey, messages::Disposition::kRetry);
  }
}

void ChunkDelivery::Change(const JourneyPtr& journey, ChunkChange change,
                           messages::Disposition disposition) const {
  parts_.change(std::move(change),
                [this, journey, disposition](db::Result<ChunkChangeReply> result) {
                  // The message stays: it comes again when its lease is over, and the chunk is looked at anew.
                  if (!result.ok()) return journey->End(ChunkOutcome::kDropped);
                  Finish(journey, disposition);
                });
}

void ChunkDelivery::Finish(const JourneyPtr& journey, messages::Disposition disposition) const {
  messages::SettleRequest request;
  request.tenant = tasks::kOwnTenant;
  request.disposition = disposition;
  request.settlements.push_back({.id = journey->message.id,
                                 .fence = journey->message.fence,
                                 .error = journey->delivered.error,
                                 .retry_after_ms = journey->delivered.retry_after_ms});
  parts_.settle(std::move(request), [journey](const db::Result<messages::SettleResult>&) {
    // Stale, gone or unknown: whoever has the message now finds the chunk as we left it.
    journey->End(journey->delivered.outcome);
  });
}

}  // namespace tenure::usage
