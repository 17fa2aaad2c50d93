#include "message_load.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
#include "await_change.hpp"
#include "support/json.hpp"

namespace tenure::chaos {
namespace {

using support::HttpConnection;
using support::HttpHeaders;
using support::HttpResponse;
using Verdict = MessageWitness::Verdict;

constexpr int kSenders = 2;
constexpr int kConsumers = 3;
constexpr std::size_t kBacklog = 300;
constexpr std::chrono::seconds kPatience{60};
constexpr const char* kMessages = "/api/v1/messages";

std::string RouteOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kDone:
      return "/ack";
    case Verdict::kRetry:
      return "/abandon";
    case Verdict::kDead:
      return "/fail";
  }
  return "";
}

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

/// A client that does not give up.
class MessageLoad::Caller {
 public:
  Caller(MessageLoad& load, std::uint64_t seed)
      : load_(load), ports_(load.options_.ports), random_(seed), at_(seed) {}

  std::mt19937_64& random() { return random_; }

  /// The 2xx to this POST, after as many attempts as it takes.
  HttpResponse Insist(const std::string& target, const std::string& body,
                      const HttpHeaders& headers = {}) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      const auto response = Try(target, body, headers);
      if (!response) continue;
      if (response->status / 100 == 2) return *response;
      const bool is_under_way = response->status == 409 && !headers.empty();
      if (response->status != 503 && !is_under_way)
        throw std::runtime_error(
            fmt::format("{}: {} {}", target, response->status, response->body));
      EXPECT_TRUE(response->FindHeader("Retry-After")) << response->body;
    }
    throw std::runtime_error(target + " is not answered");
  }

 private:
  std::optional<HttpResponse> Try(const std::string& target, const std::string& body,
                                  const HttpHeaders& headers) {
    if (!connection_ && !Connect()) return std::nullopt;
    try {
      if (random_() % 25 == 0) {
        // The answer gets lost; what was asked for is carried out, or not.
        connection_->Send(support::FormatRequest(Port(), "POST", target, body, headers));
        connection_->Reset();
        connection_.reset();
        return std::nullopt;
      }
      HttpResponse response = connection_->Call("POST", target, body, headers);
      api::ExpectDocumented("POST", target, response);
      return response;
    } catch (const std::exception&) {
      connection_.reset();
      ++at_;
      return std::nullopt;
    }
  }

  bool Connect() {
    const int generation = load_.generation_;
    for (std::size_t i = 0; i < ports_.size(); ++i, ++at_) try {
        connection_ = std::make_unique<HttpConnection>(Port());
        return true;
      } catch (const std::exception&) {
        continue;  // nobody listens there
      }
    if (!load_.stopping_) AwaitChange(load_.generation_, generation);
    return false;
  }

  int Port() const { return ports_[at_ % ports_.size()]; }

  MessageLoad& load_;
  const std::vector<int> ports_;
  std::mt19937_64 random_;
  std::size_t at_;
  std::unique_ptr<HttpConnection> connection_;
};

MessageLoad::MessageLoad(MessageLoadOptions options, MessageWitness& witness)
    : options_(std::move(options)), witness_(witness) {
  std::uint64_t seed = options_.seed;
  const auto start = [&](std::vector<std::jthread>& threads,
                         void (MessageLoad::*run)(std::uint64_t)) {
    threads.emplace_back([this, run, own = ++seed] { Guarded(run, own); });
  };
  for (int i = 0; i < kSenders; ++i) start(senders_, &MessageLoad::SendByHttp);
  if (!options_.database_url.empty()) start(senders_, &MessageLoad::SendBySql);
  for (int i = 0; i < kConsumers; ++i) start(consumers_, &MessageLoad::Consume);
}

void MessageLoad::Guarded(void (MessageLoad::*run)(std::uint64_t), std::uint64_t seed) {
  try {
    (this->*run)(seed);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

bool MessageLoad::MaySend() {
  std::unique_lock lock(mutex_);
  const bool moved = changed_.wait_for(
      lock, kPatience, [&] { return !sending_ || sent_ < kBacklog + ended_.size(); });
  if (!moved) throw std::runtime_error("nothing that was sent comes to an end");
  return sending_;
}

std::string MessageLoad::NewToken(const std::string& prefix) {
  if (prefix == kPullToken) {
    const std::lock_guard lock(mutex_);
    ++sent_;
  }
  return prefix + std::to_string(++tokens_);
}

void MessageLoad::SendByHttp(std::uint64_t seed) {
  Caller caller(*this, seed);
  while (MaySend()) {
    const std::size_t count = 1 + caller.random()() % 5;
    std::vector<std::string> tokens;
    std::string list;
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_work = !options_.database_url.empty() && caller.random()() % 4 == 0;
      tokens.push_back(NewToken(is_work ? kWorkToken : kPullToken));
      list += fmt::format(R"({}{{"topic":"{}","payload":"{}"}})", i == 0 ? "" : ",",
                          is_work ? kWorkTopic : kPullTopic, tokens.back());
    }
    const auto ids = caller
                         .Insist(kMessages, R"({"messages":[)" + list + "]}",
                                 {{"Idempotency-Key", api::NewUuid()}})
                         .Json()["ids"];
    for (std::size_t i = 0; i < count; ++i) witness_.WasAccepted(tokens[i], ids[i].Text());
  }
}

void MessageLoad::SendBySql(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::unique_ptr<api::SqlSession> session;
  while (MaySend()) {
    bool is_committing = false;
    std::vector<std::string> tokens;
    const auto rolled_back = [&] {
      for (const auto& token : tokens) witness_.WasRolledBack(token);
      const std::lock_guard lock(mutex_);
      --sent_;
    };
    try {
      if (!session) session = std::make_unique<api::SqlSession>(options_.database_url);
      tokens = {NewToken(kPullToken), NewToken(kWorkToken)};
      const auto put = [&](const std::string& topic, const std::string& token) {
        return session->Execute(
            fmt::format(R"(select tenure.enqueue('{}', '"{}"'))", topic, token));
      };
      session->Execute("begin");
      const std::string pulled = put(kPullTopic, tokens[0]);
      const std::string worked = put(kWorkTopic, tokens[1]);
      if (random() % 3 == 0) {
        session->Execute("rollback");
        rolled_back();
        continue;
      }
      is_committing = true;
      session->Execute("commit");
      witness_.WasAccepted(tokens[0], pulled);
      witness_.WasAccepted(tokens[1], worked);
    } catch (const std::exception&) {
      // Cut in the commit: it may have happened. Before that: it has not.
      if (!is_committing && !tokens.empty()) rolled_back();
      session.reset();
    }
  }
}

void MessageLoad::Consume(std::uint64_t seed) {
  Caller caller(*this, seed);
  std::deque<std::vector<Claimed>> drawer;  // acknowledged later
  while (!stopping_) {
    if (!drawer.empty() && (!sending_ || caller.random()() % 4 == 0)) {
      Report(caller, Verdict::kDone, drawer.front());
      drawer.pop_front();
    }
    const std::string claim = api::NewUuid();
    const auto messages =
        caller
            .Insist(std::string(kMessages) + "/claim",
                    fmt::format(R"({{"topics":["{}"],"max":{},"owner":"consumer-{}",)"
                                R"("lease_ms":5000,"wait_ms":300,"claim_id":"{}"}})",
                                kPullTopic, 1 + caller.random()() % 20, seed, claim))
            .Json()["messages"];
    std::vector<Claimed> claims;
    for (const auto& message : messages.Elements()) {
      claims.push_back({message["id"].Text(), message["fence"].Int()});
      witness_.WasHandedOut(message["payload"].Text(), claims.back(), claim);
    }
    if (claims.empty()) continue;
    const auto dice = sending_ ? caller.random()() % 100 : 100;
    if (dice < 5) {
      drawer.push_back(claims);
    } else if (dice < 15) {
      Report(caller, Verdict::kRetry, claims);
      drawer.push_back(claims);
    } else {
      Report(caller, dice < 17 ? Verdict::kDead : Verdict::kDone, claims);
    }
  }
}

void MessageLoad::Report(Caller& caller, Verdict verdict, const std::vector<Claimed>& claims) {
  std::string list;
  for (const auto& [id, fence] : claims)
    list += fmt::format(R"({}{{"id":"{}","fence":{}{}}})", list.empty() ? "" : ",", id, fence,
                        verdict == Verdict::kRetry ? R"(,"retry_after_ms":20)" : "");
  const auto answer =
      caller.Insist(kMessages + RouteOf(verdict), R"({"claims":[)" + list + "]}").Json();
  std::map<std::string, std::string> answers;
  for (const char* kind : {"done", "stale", "gone"})
    for (const auto& id : answer[kind].Elements()) answers[id.Text()] = kind;
  const std::lock_guard lock(mutex_);
  for (const auto& claimed : claims) {
    const std::string& kind = answers[claimed.id];
    witness_.WasAnswered(claimed, verdict, kind);
    // "gone" after a lost answer, or much too late: somebody has finished it.
    if (kind == "gone" || (kind == "done" && verdict != Verdict::kRetry)) ended_.insert(claimed.id);
  }
  changed_.notify_all();
}

void MessageLoad::WaitForEnds(std::size_t more) {
  std::unique_lock lock(mutex_);
  const std::size_t wanted = ended_.size() + more;
  if (!changed_.wait_for(lock, kPatience, [&] { return ended_.size() >= wanted; }))
    throw std::runtime_error(fmt::format("{} messages do not end", wanted - ended_.size()));
}

void MessageLoad::ServersAreBack() {
  ++generation_;
  generation_.notify_all();
}

void MessageLoad::StopSending() {
  {
    const std::lock_guard lock(mutex_);
    sending_ = false;
    changed_.notify_all();
  }
  senders_.clear();
}

void MessageLoad::Stop() {
  StopSending();
  stopping_ = true;
  ServersAreBack();
  consumers_.clear();
}

}  // namespace tenure::chaos
