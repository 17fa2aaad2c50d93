#pragma once

#include <atomic>
#include <cstdint>
#include <random>

#include "http/router.hpp"
#include "sink/faults.hpp"
#include "sink/record_store.hpp"

namespace tenure::sink {

/// The routes of the receiver: POST /usages, GET /totals, GET /records, GET and PUT /faults.
///
/// Its handlers do the store's work themselves, on the loop: a receiver for trying things has one
/// sender, and one thread that does everything needs no locks.
/// REQUIRES: the server has one loop.
///
/// What a request for /usages gets:
///  - 400: a record is not as it must be. Nothing was applied.
///  - 422: a record contradicts one that was applied before. Nothing was applied: the sender halves
///    its request down to the one that is wrong, and the rest arrives. The contradiction is counted
///    for ever and shown with every total.
///  - 200 {"applied", "duplicate"}: everything is in the books, on disk.
///  - else: a fault that somebody asked for.
class Receiver {
 public:
  /// `store` outlives it, and it outlives the server.
  Receiver(RecordStore& store, Faults faults, std::uint64_t seed);

  void AddRoutes(http::Router& router);

  /// From any thread: how many records came that were in the books already.
  std::int64_t duplicates() const { return duplicates_.load(); }

 private:
  void Post(const http::ExchangePtr& exchange);
  void GetTotals(const http::ExchangePtr& exchange);
  void GetRecords(const http::ExchangePtr& exchange);
  void GetFaults(const http::ExchangePtr& exchange);
  void PutFaults(const http::ExchangePtr& exchange);

  RecordStore& store_;
  Faults faults_;
  std::mt19937_64 random_;
  std::atomic<std::int64_t> duplicates_{0};
};

}  // namespace tenure::sink
