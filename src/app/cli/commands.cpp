#include "app/cli/command.hpp"

namespace tenure::app {

std::vector<std::unique_ptr<Command>> AllCommands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(MakeServe());
  commands.push_back(MakeMigrate());
  commands.push_back(MakeUsageSink());
  commands.push_back(MakeLeaseList());
  commands.push_back(MakeLeaseShow());
  commands.push_back(MakeLeaseHistory());
  commands.push_back(MakeLeaseBreak());
  commands.push_back(MakeLeaseRun());
  commands.push_back(MakeMessageList());
  commands.push_back(MakeMessageShow());
  commands.push_back(MakeMessageEnqueue());
  commands.push_back(MakeMessageDead());
  commands.push_back(MakeMessageRedrive());
  commands.push_back(MakeMessageDiscard());
  commands.push_back(MakeMessagePause());
  commands.push_back(MakeMessageResume());
  commands.push_back(MakeSessionPut());
  commands.push_back(MakeSessionGet());
  commands.push_back(MakeSessionList());
  commands.push_back(MakeSessionEnd());
  commands.push_back(MakeTaskList());
  commands.push_back(MakeTaskRun());
  commands.push_back(MakeTimerSet());
  commands.push_back(MakeTimerShow());
  commands.push_back(MakeTimerCancel());
  commands.push_back(MakeUsageWindows());
  commands.push_back(MakeUsageRecords());
  commands.push_back(MakeUsageTotals());
  commands.push_back(MakeUsageAudit());
  commands.push_back(MakeUsageFactors());
  commands.push_back(MakeUsageFactorsSet());
  commands.push_back(MakeUsageSend());
  commands.push_back(MakeTokenKeygen());
  commands.push_back(MakeTokenIssue());
  commands.push_back(MakeTokenInspect());
  commands.push_back(MakeAuditList());
  commands.push_back(MakeConfigCheck());
  commands.push_back(MakeConfigShow());
  commands.push_back(MakeConfigReference());
  commands.push_back(MakeConfigApply());
  commands.push_back(MakeNewIncarnation());
  commands.push_back(MakeWhyLease());
  commands.push_back(MakeWhyMessage());
  commands.push_back(MakeCompletionBash());
  return commands;
}

}  // namespace tenure::app
