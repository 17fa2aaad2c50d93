#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "db/lane.hpp"

namespace tenure::db {

/// Makes an operation of a request and gives it to a lane. `handler` is a TypedHandler; `key_hash`
/// is that of the aggregate that it changes (operation.hpp).
template <class Handler, class Request, class Callback>
void SubmitTo(Lane& lane, Handler& handler, base::Caller caller, std::size_t key_hash,
              Request request, Callback done) {
  lane.Submit(std::make_unique<typename Handler::ItemType>(handler, std::move(caller), key_hash,
                                                           std::move(request), std::move(done)));
}

}  // namespace tenure::db
