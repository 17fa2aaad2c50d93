#include "load.hpp"

#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "await_change.hpp"

namespace tenure::chaos {
namespace {

using api::Key;
using api::SessionRow;
using support::HttpConnection;
using support::HttpResponse;

constexpr int kSharedKeys = 6;

/// The connection broke, or nothing came in time: the outcome is not known.
struct NoAnswer : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Nobody listens: nothing was sent.
struct NoServer : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class T>
const T& Pick(const std::vector<T>& from, std::mt19937_64& random) {
  return from[random() % from.size()];
}

}  // namespace

void Witness::WasTold(const support::Json& session) {
  const Told told{session["userObjectId"].Text(),
                  session["tenantObjectId"].Text(),
                  session["capacityId"].Text(),
                  session["sessionKind"].Int(),
                  api::TimeMs(session["sessionStartUtc"].Text()),
                  session.Has("previousSessionId") ? session["previousSessionId"].Text() : ""};
  const std::lock_guard lock(mutex_);
  ++answers_[session["status"].Text()];
  touched_.insert(told.user);
  Told& known = told_.try_emplace(session["sessionId"].Text(), told).first->second;
  if (!told.previous.empty()) known.previous = told.previous;
}

void Witness::WasToldEnded(const std::string& id) {
  const std::lock_guard lock(mutex_);
  ++answers_["deleted"];
  ended_.insert(id);
}

void Witness::MayHaveHappened(const api::Key& key) {
  const std::lock_guard lock(mutex_);
  unknown_.push_back(key);
  touched_.insert(key.user);
}

void Witness::DidNotHappen(const api::Key& key) {
  const std::lock_guard lock(mutex_);
  declined_.insert(key.user);
}

void Witness::WasRefused(const std::string& type) {
  const std::lock_guard lock(mutex_);
  ++answers_["503 " + type];
}

std::vector<std::string> Witness::Lies(const std::vector<SessionRow>& rows) const {
  std::map<std::string, SessionRow> stored;
  for (const SessionRow& row : rows) stored[row.id] = row;
  std::vector<std::string> lies;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, told] : told_) {
    const auto found = stored.find(id);
    if (found == stored.end()) {
      lies.push_back("session " + id + " was answered and is lost");
      continue;
    }
    const SessionRow& row = found->second;
    const bool same = row.user == told.user && row.tenant == told.tenant &&
                      row.capacity == told.capacity && row.kind == told.kind &&
                      row.start_ms == told.start_ms;
    if (!same) lies.push_back("session " + id + " is not what was answered");
    if (told.previous.empty()) continue;
    const auto previous = stored.find(told.previous);
    if (previous == stored.end() || previous->second.end_ms != told.start_ms)
      lies.push_back("session " + id + " was said to replace " + told.previous);
  }
  for (const SessionRow& row : rows)
    if (declined_.contains(row.user) && !touched_.contains(row.user))
      lies.push_back("session " + row.id +
                     " is there though its PUT was said not to have happened");
  for (const std::string& id : ended_)
    if (const auto found = stored.find(id); found == stored.end() || found->second.IsOpen())
      lies.push_back("session " + id + " was said to have ended and has not");
  return lies;
}

std::vector<api::Key> Witness::Unknown() const {
  const std::lock_guard lock(mutex_);
  return unknown_;
}

std::size_t Witness::Sessions() const {
  const std::lock_guard lock(mutex_);
  return told_.size();
}

std::string Witness::Summary() const {
  const std::lock_guard lock(mutex_);
  std::string text = std::to_string(told_.size()) + " sessions, " +
                     std::to_string(unknown_.size()) + " outcomes unknown";
  for (const auto& [what, count] : answers_) text += ", " + std::to_string(count) + " " + what;
  return text;
}

std::uint64_t ChooseSeed() {
  const char* given = std::getenv("TENURE_TEST_CHAOS_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "TENURE_TEST_CHAOS_SEED=" << seed << std::endl;
  return seed;
}

Load::Load(LoadOptions options, Witness& witness)
    : options_(std::move(options)), witness_(witness) {
  for (int i = 0; i < kSharedKeys; ++i) shared_.push_back(api::NewKey());
  running_ = options_.clients;
  for (int i = 0; i < options_.clients; ++i) {
    const auto index = static_cast<std::size_t>(i);
    Client client{.port = options_.ports[index % options_.ports.size()],
                  .random = std::mt19937_64(options_.seed + index),
                  .connection = {},
                  .keys = {},
                  .ids = {}};
    threads_.emplace_back([this, client = std::move(client)]() mutable {
      Run(std::move(client));
      const std::lock_guard lock(mutex_);
      --running_;
      answered_.notify_all();
    });
  }
}

void Load::Run(Client client) {
  while (!stopping_) {
    const int generation = generation_;
    try {
      Step(client);
      continue;
    } catch (const NoServer& gone) {
      if (options_.servers_may_die) {
        AwaitChange(generation_, generation);  // until its server is back
        continue;
      }
      ADD_FAILURE() << gone.what();
    } catch (const NoAnswer& lost) {
      client.connection.reset();
      if (options_.servers_may_die) continue;
      ADD_FAILURE() << "a client got no proper answer: " << lost.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    return;
  }
}

void Load::Step(Client& client) {
  const auto dice = client.random() % 100;
  if (dice < 30 || client.keys.empty()) {
    client.keys.push_back(api::NewKey());
    Put(client, client.keys.back());
  } else if (dice < 45) {
    Put(client, Pick(client.keys, client.random));
  } else if (dice < 75) {
    Put(client, Pick(shared_, client.random));
  } else if (!client.ids.empty()) {
    dice < 93 ? End(client) : Look(client);
  }
}

void Load::Put(Client& client, const Key& key) {
  const int kind = static_cast<int>(client.random() % 3) + 1;
  HttpResponse response;
  try {
    response = Call(client, "PUT", "/sessions", api::PutBody(key, kind));
  } catch (const NoAnswer&) {
    witness_.MayHaveHappened(key);
    throw;
  }
  if (Judge(response)) {
    witness_.WasTold(response.Json());
    client.ids.push_back(response.Json()["sessionId"].Text());
  } else if (response.status == 503 && api::ProblemType(response) == "outcome-unknown") {
    witness_.MayHaveHappened(key);
  } else {
    witness_.DidNotHappen(key);
  }
}

void Load::End(Client& client) {
  const std::string id = Pick(client.ids, client.random);
  if (Judge(Call(client, "DELETE", "/sessions/" + id))) witness_.WasToldEnded(id);
}

void Load::Look(Client& client) {
  const std::string id = Pick(client.ids, client.random);
  const HttpResponse response = Call(client, "GET", "/sessions/" + id);
  if (Judge(response)) {
    EXPECT_EQ(response.Json()["sessionId"].Text(), id);
  }
}

HttpResponse Load::Call(Client& client, std::string_view method, const std::string& target,
                        const std::string& body) {
  try {
    if (!client.connection)
      client.connection = std::make_unique<HttpConnection>(client.port, options_.patience);
  } catch (const std::exception& error) {
    throw NoServer(error.what());
  }
  HttpResponse response;
  try {
    response = client.connection->Call(method, target, body);
  } catch (const std::exception& error) {
    throw NoAnswer(std::string(method) + " " + target + ": " + error.what());
  }
  api::ExpectDocumented(method, target, response);
  return response;
}

bool Load::Judge(const HttpResponse& response) {
  if (response.status / 100 == 2) {
    const std::lock_guard lock(mutex_);
    ++answers_;
    answered_.notify_all();
    return true;
  }
  if (response.status == 503) {
    EXPECT_TRUE(response.FindHeader("Retry-After")) << response.body;
    witness_.WasRefused(api::ProblemType(response));
  } else {
    ADD_FAILURE() << "neither 2xx nor 503: " << response.status << " " << response.body;
  }
  return false;
}

void Load::WaitForAnswers(int more) {
  std::unique_lock lock(mutex_);
  const long wanted = answers_ + more;
  answered_.wait_for(lock, std::chrono::minutes(1),
                     [&] { return answers_ >= wanted || running_ == 0; });
  if (answers_ < wanted)
    throw std::runtime_error("clients are not served: " + std::to_string(wanted - answers_) +
                             " answers are missing");
}

void Load::ServersAreBack() {
  ++generation_;
  generation_.notify_all();
}

void Load::Stop() {
  stopping_ = true;
  ServersAreBack();
  threads_.clear();
}

void ExpectTruth(Witness& witness, int port, const std::function<std::vector<SessionRow>()>& rows) {
  std::cout << witness.Summary() << std::endl;
  const api::Api server(port);
  for (const Key& key : witness.Unknown()) {
    const HttpResponse response = server.Put(key, 1);
    ASSERT_LT(response.status, 300) << response.body;
    witness.WasTold(response.Json());
  }
  const auto stored = rows();
  EXPECT_THAT(witness.Lies(stored), testing::IsEmpty());
  EXPECT_THAT(api::Contradictions(stored), testing::IsEmpty());
}

}  // namespace tenure::chaos
