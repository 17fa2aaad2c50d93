// Ordered messages over HTTP. Prints one JSON object.
//
//   cycle --port P --count C --session N [--connections K]
//
// As queues_library: C messages in sessions of N, sent in batches of 500; then all are accepted and completed. The queue
// `bench` is there. An answer that is not what it should be ends it with exit status 1.

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "client.hpp"
#include "message_batch.hpp"
#include "options.hpp"

namespace bench {
namespace {

std::string PostToQueue(std::string_view action, std::string_view body) {
  return HttpRequest("POST", fmt::format("/api/v1/queues/bench/{}", action), body);
}

const std::string kAccept =
    PostToQueue("accept", R"({"consumer":"bench","max_sessions":100,"max_messages":100})");

std::int64_t NumberAt(std::string_view text, std::size_t at) {
  std::int64_t number = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), number);
  return number;
}

/// What an answer says of sessions: their ids, fences (of an accept), and what was handed out.
struct HandedSession {
  std::string id;
  std::int64_t fence = 0;
  std::int64_t last = 0;  ///< 0: nothing
  std::size_t messages = 0;
};
std::vector<HandedSession> SessionsIn(std::string_view answer) {
  constexpr std::string_view kSession = R"("session":")", kFence = R"("fence":)";
  constexpr std::string_view kSequence = R"("sequence":)";
  constexpr std::size_t kIdSize = 36;
  std::vector<HandedSession> sessions;
  for (std::size_t at = answer.find(kSession); at != std::string_view::npos;) {
    const std::size_t next = answer.find(kSession, at + 1);
    const std::string_view part =
        answer.substr(at, next == std::string_view::npos ? next : next - at);
    HandedSession& session = sessions.emplace_back();
    session.id = part.substr(kSession.size(), kIdSize);
    if (const auto fence = part.find(kFence); fence != std::string_view::npos)
      session.fence = NumberAt(part, fence + kFence.size());
    for (std::size_t each = part.find(kSequence); each != std::string_view::npos;
         each = part.find(kSequence, each + 1)) {
      const std::int64_t sequence = NumberAt(part, each + kSequence.size());
      if (session.last != 0 && sequence != session.last + 1) Die("a slice has a gap");
      session.last = sequence;
      ++session.messages;
    }
    at = next;
  }
  return sessions;
}

void Expect(const Answer& answer, int status) {
  if (answer.status != status)
    Die(fmt::format("answered {} {}", answer.status, answer.body.substr(0, 500)));
}

std::string BatchOf(std::uint64_t first, std::uint64_t count, std::uint64_t session) {
  std::string items;
  for (std::uint64_t i = first; i < std::min(count, first + kMessageBatch); ++i)
    items += fmt::format(R"({}{{"session_key":"session-{}","payload":{}}})", i == first ? "" : ",",
                         i / session, MessagePayload(i));
  return PostToQueue("messages", fmt::format(R"({{"messages":[{}]}})", items));
}

/// Sends all, batch by batch on each connection.
void SendAll(const Options& options) {
  const std::uint64_t count = options.Number("count"), session = options.Number("session");
  std::uint64_t next = 0;
  Client* all = nullptr;
  const auto send = [&](std::size_t connection) {
    if (next >= count) return;
    all->Send(connection, BatchOf(next, count, session));
    next += kMessageBatch;
  };
  Client client(static_cast<std::uint16_t>(options.Number("port")),
                options.Number("connections", 8),
                [&](std::size_t connection, const Answer& answer) {
                  Expect(answer, 201);
                  send(connection);
                });
  all = &client;
  for (std::size_t i = 0; i < client.size(); ++i) send(i);
  while (client.busy() > 0) client.Poll(1'000);
}

/// Accepts and completes in turns on each connection, until everything is done.
class Consuming {
 public:
  explicit Consuming(const Options& options)
      : count_(options.Number("count")),
        fences_(4),
        client_(
            static_cast<std::uint16_t>(options.Number("port")), 4,
            [this](std::size_t connection, const Answer& answer) { Take(connection, answer); }) {}

  void Run() {
    for (std::size_t i = 0; i < client_.size(); ++i) client_.Send(i, kAccept);
    while (client_.busy() > 0) client_.Poll(1'000);
    if (done_ != count_) Die(fmt::format("{} were sent, {} done", count_, done_));
  }

 private:
  void Take(std::size_t connection, const Answer& answer) {
    Expect(answer, 200);
    auto& fences = fences_[connection];
    std::string items;
    for (const HandedSession& each : SessionsIn(answer.body)) {
      if (each.fence > 0) fences[each.id] = each.fence;
      if (each.last == 0) continue;
      done_ += each.messages;
      items += fmt::format(R"({}{{"session":"{}","fence":{},"sequence":{},"max_messages":100}})",
                           items.empty() ? "" : ",", each.id, fences.at(each.id), each.last);
    }
    if (!items.empty())
      return client_.Send(connection,
                          PostToQueue("complete", fmt::format(R"({{"sessions":[{}]}})", items)));
    fences.clear();
    if (done_ < count_) client_.Send(connection, kAccept);
  }

  const std::uint64_t count_;
  std::uint64_t done_ = 0;
  std::vector<std::map<std::string, std::int64_t>>
      fences_;  // by connection, of what it has in hand
  Client client_;
};

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  const std::string mode = count > 1 ? words[1] : "";
  if (mode != "cycle") bench::Die("usage: queues_http cycle …; see queues_http.cpp");
  const bench::Options options(count - 2, words + 2);
  const std::int64_t begun = bench::NowNanos();
  bench::SendAll(options);
  const std::int64_t sent = bench::NowNanos();
  bench::Consuming(options).Run();
  const std::int64_t ended = bench::NowNanos();
  const auto all = static_cast<double>(options.Number("count")) * 1e9;
  fmt::print("{{\"jobs\": {}, \"send_rate\": {:.1f}, \"handle_rate\": {:.1f}, \"rate\": {:.1f}}}\n",
             options.Number("count"), all / static_cast<double>(sent - begun),
             all / static_cast<double>(ended - sent), all / static_cast<double>(ended - begun));
  return 0;
}
