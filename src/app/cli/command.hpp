#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/console.hpp"
#include "app/cli/flags.hpp"

namespace tenure::app {

/// One command of the program, "session put". Its members are the targets of its flags.
///
/// Life: made, declared once, parsed into, run once; on the main thread.
class Command {
 public:
  virtual ~Command() = default;

  virtual std::string_view words() const = 0;    ///< one to three
  virtual std::string_view summary() const = 0;  ///< for lists: a phrase without a full stop
  /// Paragraphs below the flags: what to know, examples. May be empty.
  virtual std::string notes() const { return {}; }
  virtual void Declare(Flags& flags) = 0;
  /// Returns the exit code. Throws UsageError, base::UserError or base::Fault.
  virtual int Run(Console& console) = 0;
};

/// Every command, in the order of the help page.
std::vector<std::unique_ptr<Command>> AllCommands();

std::unique_ptr<Command> MakeServe();
std::unique_ptr<Command> MakeMigrate();
std::unique_ptr<Command> MakeAuditList();
std::unique_ptr<Command> MakeLeaseList();
std::unique_ptr<Command> MakeLeaseShow();
std::unique_ptr<Command> MakeLeaseHistory();
std::unique_ptr<Command> MakeLeaseBreak();
std::unique_ptr<Command> MakeLeaseRun();
std::unique_ptr<Command> MakeMessageList();
std::unique_ptr<Command> MakeMessageShow();
std::unique_ptr<Command> MakeMessageEnqueue();
std::unique_ptr<Command> MakeMessageDead();
std::unique_ptr<Command> MakeMessageRedrive();
std::unique_ptr<Command> MakeMessageDiscard();
std::unique_ptr<Command> MakeMessagePause();
std::unique_ptr<Command> MakeMessageResume();
std::unique_ptr<Command> MakeSessionPut();
std::unique_ptr<Command> MakeSessionGet();
std::unique_ptr<Command> MakeSessionList();
std::unique_ptr<Command> MakeSessionEnd();
std::unique_ptr<Command> MakeTaskList();
std::unique_ptr<Command> MakeTaskRun();
std::unique_ptr<Command> MakeTimerSet();
std::unique_ptr<Command> MakeTimerShow();
std::unique_ptr<Command> MakeTimerCancel();
std::unique_ptr<Command> MakeUsageSink();
std::unique_ptr<Command> MakeUsageWindows();
std::unique_ptr<Command> MakeUsageRecords();
std::unique_ptr<Command> MakeUsageTotals();
std::unique_ptr<Command> MakeUsageFactors();
std::unique_ptr<Command> MakeUsageFactorsSet();
std::unique_ptr<Command> MakeUsageSend();
std::unique_ptr<Command> MakeUsageAudit();
std::unique_ptr<Command> MakeTokenKeygen();
std::unique_ptr<Command> MakeTokenIssue();
std::unique_ptr<Command> MakeTokenInspect();
std::unique_ptr<Command> MakeConfigCheck();
std::unique_ptr<Command> MakeConfigShow();
std::unique_ptr<Command> MakeConfigReference();
std::unique_ptr<Command> MakeConfigApply();
std::unique_ptr<Command> MakeNewIncarnation();
std::unique_ptr<Command> MakeWhyLease();
std::unique_ptr<Command> MakeWhyMessage();
std::unique_ptr<Command> MakeCompletionBash();

}  // namespace tenure::app
