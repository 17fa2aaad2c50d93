#pragma once

#include <string>

#include "http/message.hpp"
#include "seats/command.hpp"

namespace tenure::seats {

http::Problem FullProblem(const Full& full);
http::Problem MachineHeldProblem(const MachineHeld& held);
/// `contact`: whom to ask about a licence that has expired; empty: nobody is named.
http::Problem InactiveProblem(const Inactive& inactive, const std::string& contact);
http::Problem UnknownKeyProblem();
http::Problem UnknownLicense();
http::Problem UnknownSession();
http::Problem UnknownTicket();
http::Problem LostProblem(const Lost& lost);
/// Of a ticket whose licence is not to be used.
http::Problem LostProblem(const Inactive& inactive);
http::Problem RestoredProblem(const Forgotten& forgotten);

}  // namespace tenure::seats
