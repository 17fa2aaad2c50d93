#include "message_load.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/sql_session.hpp"

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

}  // namespace

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
    if (!load_.stopping_) load_.generation_.wait(generation);
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
  changed_.wait(lock, [&] { return !sending_ || sent_ < kBacklog + ended_.size(); });
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
