#include "usage/emit.hpp"

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "tasks/task.hpp"
#include "usage_sql/queries.hpp"

namespace tenure::usage {
namespace {

/// Pairs the firsts and lasts of list_ranges.sql.
std::vector<Chunk> ChunksOf(const db::Rows& rows, const Window& window, std::int64_t chunk_size) {
  std::vector<Chunk> chunks;
  for (const auto row : rows) {
    const std::int64_t position = row.Int(1);
    if ((position - 1) % chunk_size == 0) {
      Chunk chunk;
      chunk.name = {window.number,
                    fmt::to_string(window.chunks + static_cast<std::int64_t>(chunks.size()) + 1)};
      chunk.first_id = row.Uuid(0);
      chunks.push_back(chunk);
    }
    chunks.back().last_id = row.Uuid(0);
    chunks.back().records = (position - 1) % chunk_size + 1;
  }
  return chunks;
}

}  // namespace

void FindNextRanges(db::Transaction& tx, db::Items<RangesRequest, RangesReply> items) {
  const auto window = ReadWindow(tx.Run(sql::kFindEmitting));
  for (auto* item : items) {
    RangesReply reply;
    if (window) {
      const std::int64_t chunk_size = item->request.chunk_size;
      const std::int64_t most = chunk_size * item->request.chunks;
      reply.window = window;
      reply.chunks = ChunksOf(tx.Run(sql::kListRanges, window->start_ms, window->end_ms,
                                     window->last_id, chunk_size, most),
                              *window, chunk_size);
      reply.is_last = static_cast<std::int64_t>(reply.chunks.size()) < item->request.chunks ||
                      reply.chunks.back().records < chunk_size;
    }
    item->reply = std::move(reply);
  }
}

messages::EnqueueEffect EmitHandler::WriteItems(db::Transaction& tx, Items items) {
  std::vector<messages::EnqueueRequest> requests;
  for (auto* item : items) {
    const EmitRequest& request = item->request;
    Window after = *request.window;
    for (const Chunk& chunk : request.chunks) after.records += chunk.records;
    after.chunks += static_cast<std::int64_t>(request.chunks.size());
    if (!request.chunks.empty()) after.last_id = request.chunks.back().last_id;
    after.state = request.is_last ? WindowState::kEmitted : WindowState::kEmitting;
    const bool mine =
        !tx.Run(sql::kAdvanceWindow, after.number, request.window->last_id, after.last_id,
                after.chunks, after.records, static_cast<std::int64_t>(after.state))
             .empty();
    item->reply = EmitReply{mine};
    if (!mine || request.chunks.empty()) continue;
    InsertChunks(tx, request.chunks);
    requests.push_back(ChunkMessages(request.chunks));
  }
  if (requests.empty()) return {};
  std::vector<const messages::EnqueueRequest*> views;
  for (const auto& request : requests) views.push_back(&request);
  messages::Enqueuer enqueuer(topic_cache_, process_);
  enqueuer.Add(tx, views);
  return enqueuer.effect();
}

messages::EnqueueRequest ChunkMessages(const std::vector<Chunk>& chunks) {
  messages::EnqueueRequest request;
  request.tenant = tasks::kOwnTenant;
  for (const Chunk& chunk : chunks) {
    messages::NewMessage message;
    message.topic = kTopic;
    message.correlation_id = ToText(chunk.name);
    base::JsonWriter(message.payload)
        .BeginObject()
        .Field("window", chunk.name.number)
        .Field("chunk", std::string_view(chunk.name.chunk))
        .Field("first", chunk.first_id)
        .Field("last", chunk.last_id)
        .Field("records", chunk.records)
        .Field("format", chunk.format)
        .EndObject();
    request.messages.push_back(std::move(message));
  }
  return request;
}

}  // namespace tenure::usage
