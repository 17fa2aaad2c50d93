#pragma once

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "messages/test_process.hpp"

namespace tenure::messages {

/// One process on a store, once for every kind of store: what holds for all of them is in
/// contract_test.cpp, held_test.cpp and waiting_test.cpp.
class MessagesContract : public testing::TestWithParam<store::EngineKind> {
 protected:
  base::ManualClock& clock() { return store_.clock(); }

  store::TestStore store_{GetParam(), sql::All()};
  TestProcess a_{store_};
};

inline std::vector<std::string> Payloads(const std::vector<ClaimedMessage>& messages) {
  std::vector<std::string> payloads;
  for (const ClaimedMessage& each : messages) payloads.push_back(each.payload);
  return payloads;
}

}  // namespace tenure::messages
