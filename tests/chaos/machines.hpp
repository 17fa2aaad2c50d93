#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "load.hpp"
#include "support/server_process.hpp"

/// Machines that want seats, as real processes, and what they believed.
namespace tenure::chaos {

inline constexpr int kSeats = 2;
inline constexpr std::size_t kMachines = 4;

/// A licence, and machines that want more of its seats than there are.
class Machines {
 public:
  Machines(const support::ServerProcess& first, std::vector<std::string> urls)
      : urls_(std::move(urls)) {
    const auto made = api::Api(first).Call(
        "POST", "/api/v1/licenses", fmt::format(R"({{"seats":{},"ttl_seconds":2}})", kSeats));
    if (made.status != 201) throw std::runtime_error("no licence: " + made.body);
    id_ = made.Json()["id"].Text();
    key_ = made.Json()["license_key"].Text();
    for (std::size_t i = 0; i < kMachines; ++i) Start(i);
  }

  /// For longer than its deadline.
  void Pause(std::size_t i) {
    processes_[i]->Kill(SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(2'500));
    processes_[i]->Kill(SIGCONT);
  }
  void KillAndRestart(std::size_t i) {
    processes_[i]->Kill(SIGKILL);
    processes_[i]->Wait();
    outputs_[i] += processes_[i]->Output();
    Start(i);
  }
  /// Until seats were had so many more times.
  void AwaitHolds(std::size_t count) {
    const std::size_t wanted = Periods().size() + count;
    api::Eventually(
        "seats are had again", [&] { return Periods().size() >= wanted; },
        std::chrono::seconds(120));
  }
  void Stop() {
    for (auto& [i, process] : processes_) {
      process->Kill(SIGKILL);
      process->Wait();
    }
  }

  /// The most machines that believed at once.
  int MostAtOnce() const {
    struct Edge {
      std::int64_t at_ms;
      int change;
    };
    std::vector<Edge> edges;
    for (const auto& [from_ms, until_ms] : Periods()) {
      edges.push_back({from_ms, 1});
      edges.push_back({until_ms, -1});
    }
    // One that ends when another begins was before it.
    std::ranges::sort(edges, [](const Edge& a, const Edge& b) {
      return std::pair(a.at_ms, a.change) < std::pair(b.at_ms, b.change);
    });
    int now = 0;
    int most = 0;
    for (const Edge& edge : edges) most = std::max(most, now += edge.change);
    return most;
  }

  /// What `prove` says of the licence's log.
  api::ProgramResult Prove(const std::string& url) const {
    return api::RunTenure({"seat", "prove", id_, "--server", url, "--json"});
  }
  const std::string& id() const { return id_; }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> Periods() const {
    static const std::regex kLine("held (\\d+) (\\d+)\n");
    std::vector<std::pair<std::int64_t, std::int64_t>> periods;
    for (const auto& [i, process] : processes_) {
      const std::string all = outputs_[i] + process->Output();
      for (std::sregex_iterator at(all.begin(), all.end(), kLine), end; at != end; ++at)
        periods.emplace_back(std::stoll((*at)[1]), std::stoll((*at)[2]));
    }
    return periods;
  }
  void Start(std::size_t i) {
    processes_[i] = std::make_unique<support::Process>(support::ProcessOptions{
        .argv = {std::getenv("SEAT_HOLDER_BINARY"), urls_[i % urls_.size()], fmt::format("m{}", i)},
        .environment = {{"TENURE_LICENSE", key_}}});
  }

  const std::vector<std::string> urls_;
  std::string id_;
  std::string key_;
  std::map<std::size_t, std::unique_ptr<support::Process>> processes_;
  mutable std::array<std::string, kMachines> outputs_{};  // of those that were killed
};

inline void TormentSeats(Machines& machines, const std::vector<std::function<void()>>& others) {
  std::mt19937_64 random(ChooseSeed());
  machines.AwaitHolds(3);
  std::vector<std::size_t> blows{0, 1};
  for (std::size_t i = 0; i < others.size(); ++i) blows.push_back(2 + i);
  blows.push_back(random() % blows.size());
  std::ranges::shuffle(blows, random);
  for (const std::size_t blow : blows) {
    const std::size_t victim = random() % kMachines;
    if (blow == 0)
      machines.Pause(victim);
    else if (blow == 1)
      machines.KillAndRestart(victim);
    else
      others[blow - 2]();
    machines.AwaitHolds(2);
  }
  machines.Stop();
}

/// K1 as the machines believed, and what the log says of it.
inline void ExpectProven(const Machines& machines, const std::string& url) {
  EXPECT_EQ(machines.MostAtOnce(), kSeats) << "all are used, and never more";
  const auto proof = machines.Prove(url);
  EXPECT_EQ(proof.exit_code, 0) << proof.out << proof.err;
  EXPECT_NE(proof.out.find(fmt::format(R"("highest":{})", kSeats)), std::string::npos) << proof.out;
}

}  // namespace tenure::chaos
