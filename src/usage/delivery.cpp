#include "usage/delivery.hpp"

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

void ChangeHandler::WriteItems(db::Transaction& tx, Items items) {
  // A chunk may come twice: two who held its message. What the first one says counts.
  std::map<ChunkName, const ChunkChange*> changes;
  for (auto* item : items) {
    item->reply = ChunkChangeReply{};
    changes.emplace(item->request.name, &item->request);
  }
  std::vector<const ChunkChange*> struck;
  std::vector<std::int64_t> numbers, refused_numbers;
  std::vector<std::string_view> names, refused_names, answers;
  for (const auto& [name, change] : changes) {
    if (change->kind == ChunkChange::Kind::kRefused) {
      refused_numbers.push_back(name.number);
      refused_names.emplace_back(name.chunk);
      answers.emplace_back(change->answer);
    } else {
      struck.push_back(change);
      numbers.push_back(name.number);
      names.emplace_back(name.chunk);
    }
  }
  const auto deleted = tx.Queue(sql::kDeleteChunks, numbers, names);
  const auto clock = tx.QueueClock();
  std::vector<Chunk> halves;
  const db::Rows gone = tx.Take(deleted);
  for (const auto row : gone)
    for (const Chunk& half : struck[row.ordinal()]->halves) halves.push_back(half);
  tx.Queue(sql::kRefuseChunks, refused_numbers, refused_names, answers, tx.TakeClock(clock));
  if (halves.empty()) return;
  InsertChunks(tx, halves);
  const messages::EnqueueRequest request = ChunkMessages(halves);
  const messages::EnqueueRequest* requests[] = {&request};
  messages::Enqueuer enqueuer(directory_, process_);
  enqueuer.Add(tx, requests);
  items.front()->reply->news = enqueuer.news();
  items.front()->reply->opened = enqueuer.opened();
}

void ChangeHandler::DoneItems(Items items) {
  for (const auto* item : items) {
    for (const auto& topic : item->reply->opened) directory_.Learn(topic);
    item->reply->news.Signal(wake_);
  }
}

struct Delivery::Journey {
  messages::ClaimedMessage message;
  base::UniqueFunction<Delivered> done;
  LoadReply loaded{};
  Delivered delivered{};

  void End(Outcome outcome) {
    delivered.outcome = outcome;
    done(std::move(delivered));
  }
};

void Delivery::Deliver(const messages::ClaimedMessage& message,
                       base::UniqueFunction<Delivered> done) const {
  auto journey = std::make_shared<Journey>(Journey{message, std::move(done)});
  const auto name = ParseChunkName(message.correlation_id);
  if (!name) {
    journey->delivered.error = "the message names no chunk";
    journey->delivered.outcome = Outcome::kRefused;
    return Finish(journey, messages::Verdict::kDead);
  }
  parts_.load(
      *name, [this, journey](db::Result<LoadReply> result) { Loaded(journey, std::move(result)); });
}

void Delivery::Loaded(const JourneyPtr& journey, db::Result<LoadReply> result) const {
  if (!result.ok()) return journey->End(Outcome::kDropped);
  journey->loaded = std::move(result.value());
  if (!journey->loaded.chunk) {
    journey->delivered.outcome = Outcome::kSkipped;
    return Finish(journey, messages::Verdict::kDone);
  }
  const Chunk& chunk = *journey->loaded.chunk;
  journey->delivered.records = chunk.records;
  const std::size_t found = journey->loaded.material.sessions.size();
  if (static_cast<std::int64_t>(found) != chunk.records) {
    // Somebody changed the sessions behind our back. A wrong sum is not sent.
    journey->delivered.error =
        fmt::format("window {} has changed: {} sessions instead of {} in chunk {}",
                    chunk.name.number, found, chunk.records, chunk.name.chunk);
    journey->delivered.outcome = Outcome::kFailed;
    return Finish(journey, messages::Verdict::kRetry);
  }
  Post post{KeyOf(parts_.installation, journey->loaded.material.window.incarnation, chunk.name),
            RecordsJson(journey->loaded.material)};
  parts_.post(std::move(post),
              [this, journey](PostReply reply) { Answered(journey, std::move(reply)); });
}

void Delivery::Answered(const JourneyPtr& journey, PostReply reply) const {
  const Chunk& chunk = *journey->loaded.chunk;
  Delivered& delivered = journey->delivered;
  switch (MeaningOf(reply.status)) {
    case Meaning::kTaken:
      delivered.outcome = Outcome::kAcknowledged;
      return Change(journey, {.name = chunk.name}, messages::Verdict::kDone);
    case Meaning::kRefused:
      if (chunk.records > 1) {
        delivered.outcome = Outcome::kHalved;
        return Change(journey,
                      {.name = chunk.name,
                       .kind = ChunkChange::Kind::kHalve,
                       .halves = Halves(chunk, journey->loaded.material.sessions)},
                      messages::Verdict::kDone);
      }
      delivered.outcome = Outcome::kRefused;
      delivered.error = Shown(reply);
      return Change(
          journey,
          {.name = chunk.name, .kind = ChunkChange::Kind::kRefused, .answer = delivered.error},
          messages::Verdict::kDead);
    case Meaning::kTryAgain:
      delivered.outcome = Outcome::kFailed;
      delivered.error = Shown(reply);
      delivered.retry_after_ms = reply.retry_after_ms;
      return Finish(journey, messages::Verdict::kRetry);
  }
}

void Delivery::Change(const JourneyPtr& journey, ChunkChange change,
                      messages::Verdict verdict) const {
  parts_.change(std::move(change), [this, journey, verdict](db::Result<ChunkChangeReply> result) {
    // The message stays: it comes again when its lease is over, and the chunk is looked at anew.
    if (!result.ok()) return journey->End(Outcome::kDropped);
    Finish(journey, verdict);
  });
}

void Delivery::Finish(const JourneyPtr& journey, messages::Verdict verdict) const {
  messages::ReportRequest request;
  request.tenant = tasks::kOwnTenant;
  request.verdict = verdict;
  request.reports.push_back({.id = journey->message.id,
                             .fence = journey->message.fence,
                             .error = journey->delivered.error,
                             .retry_after_ms = journey->delivered.retry_after_ms});
  parts_.report(std::move(request), [journey](const db::Result<messages::ReportResult>&) {
    // Stale, gone or unknown: whoever has the message now finds the chunk as we left it.
    journey->End(journey->delivered.outcome);
  });
}

}  // namespace tenure::usage
