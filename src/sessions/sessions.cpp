#include "sessions/sessions.hpp"

namespace tenure::sessions {
namespace {

template <class Handler, class Request, class Callback>
void SubmitTo(db::Lane& lane, Handler& handler, base::Executor* home, Request request,
              Callback done) {
  lane.Submit(std::make_unique<typename Handler::ItemType>(handler, home, std::move(request),
                                                           std::move(done)));
}

}  // namespace

Sessions::Sessions(db::Store& store, const Options& options, telemetry::Registry& metrics)
    : store_(store),
      options_(options),
      probe_(metrics),
      put_(options.duration_ms, probe_),
      end_(probe_) {}

void Sessions::Put(const PutRequest& request, base::Executor* home, Callback<PutReply> done) {
  SubmitTo(store_.WriteLane(KeyHash()(request.key)), put_, home, request, std::move(done));
}

void Sessions::Find(const base::Uuid& id, base::Executor* home, Callback<FindReply> done) {
  SubmitTo(store_.ReadLane(), find_, home, FindRequest{id}, std::move(done));
}

void Sessions::List(const ListRequest& request, base::Executor* home, Callback<ListReply> done) {
  SubmitTo(store_.ReadLane(), list_, home, request, std::move(done));
}

void Sessions::End(const EndRequest& request, base::Executor* home, Callback<EndReply> done) {
  SubmitTo(store_.WriteLane(KeyHash()(request.key)), end_, home, request, std::move(done));
}

void Sessions::ExpireSome(Callback<BackgroundReply> done) {
  SubmitTo(store_.WriteLane(0), expire_, nullptr, ExpireRequest{}, std::move(done));
}

void Sessions::RemoveSome(Callback<BackgroundReply> done) {
  SubmitTo(store_.WriteLane(0), remove_, nullptr, RemoveRequest{options_.retention_ms},
           std::move(done));
}

void Sessions::CountActive(Callback<CountReply> done) {
  SubmitTo(store_.ReadLane(), count_, nullptr, CountRequest{}, std::move(done));
}

}  // namespace tenure::sessions
