#pragma once

#include <memory>

#include "couriers/courier.hpp"
#include "couriers/message_store.hpp"

namespace tenure::couriers {

/// Messages of a store of our own. Throws Unavailable.
std::unique_ptr<Courier> OpenStore(const NewEngine& new_engine);

}  // namespace tenure::couriers
