#include "webhooks/rules/table.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tenure::webhooks::rules {
namespace {

const std::array kKinds = {
    KindRow{Kind::kPullRequest,
            "pull_request",
            "thread",
            false,
            {"pull_request.number", "issue.number"}},
    KindRow{Kind::kIssue, "issue", "thread", false, {"issue.number", "pull_request.number"}},
    KindRow{Kind::kDiscussion, "discussion", "discussion", false, {"discussion.number"}},
    KindRow{Kind::kDeployment, "deployment", "deployment", false, {"deployment.id"}},
    KindRow{Kind::kCheckRun, "check_run", "check_run", false, {"check_run.id"}},
    KindRow{Kind::kCheckSuite,
            "check_suite",
            "check_suite",
            false,
            {"check_suite.id", "check_run.check_suite.id"}},
    KindRow{Kind::kWorkflowRun,
            "workflow_run",
            "workflow_run",
            false,
            {"workflow_run.id", "workflow_job.run_id"}},
    KindRow{Kind::kMergeGroup, "merge_group", "merge_group", true, {"merge_group.head_sha"}},
    KindRow{Kind::kCommit,
            "commit",
            "commit",
            true,
            {"sha", "comment.commit_id", "check_run.head_sha", "check_suite.head_sha",
             "workflow_run.head_sha", "deployment.sha"}},
    KindRow{Kind::kCodeScanningAlert,
            "code_scanning_alert",
            "code_scanning_alert",
            false,
            {"alert.number"}},
    KindRow{
        Kind::kDependabotAlert, "dependabot_alert", "dependabot_alert", false, {"alert.number"}},
    KindRow{Kind::kSecretScanningAlert,
            "secret_scanning_alert",
            "secret_scanning_alert",
            false,
            {"alert.number"}},
    KindRow{Kind::kRef, "ref", "ref", true, {"ref"}},
    KindRow{Kind::kRelease, "release", "release", false, {"release.id"}},
    KindRow{Kind::kOrganization, "organization", "", false, {"organization.id"}},
    KindRow{Kind::kRepository, "repository", "repository", false, {"repository.id"}},
};

constexpr EventRow kEvents[] = {
    {"branch_protection_configuration"},
    {"branch_protection_rule"},
    {"bypass_request_push_ruleset"},
    {"bypass_request_secret_scanning"},
    {"check_run", Kind::kCheckRun, "check_run.id"},
    {"check_suite", Kind::kCheckSuite, "check_suite.id"},
    {"code_scanning_alert", Kind::kCodeScanningAlert, "alert.number"},
    {"commit_comment", Kind::kCommit, "comment.commit_id"},
    {"create"},
    {"custom_property"},
    {"custom_property_values"},
    {"delete"},
    {"dependabot_alert", Kind::kDependabotAlert, "alert.number"},
    {"deploy_key"},
    {"deployment", Kind::kDeployment, "deployment.id"},
    {"deployment_protection_rule", Kind::kDeployment, "deployment.id"},
    {"deployment_review", Kind::kWorkflowRun, "workflow_run.id"},
    {"deployment_status", Kind::kDeployment, "deployment.id"},
    {"discussion", Kind::kDiscussion, "discussion.number"},
    {"discussion_comment", Kind::kDiscussion, "discussion.number"},
    {"dismissal_request_code_scanning"},
    {"dismissal_request_dependabot"},
    {"dismissal_request_secret_scanning"},
    {"exemption_request_push_ruleset"},
    {"exemption_request_secret_scanning"},
    {"fork"},
    {"github_app_authorization"},
    {"gollum"},
    {"installation"},
    {"installation_repositories"},
    {"installation_target"},
    {"issue_comment", Kind::kIssue, "issue.number"},
    {"issue_dependencies", Kind::kIssue, "blocked_issue.number", "blocked_by_"},
    {"issue_dependencies", Kind::kIssue, "blocking_issue.number", "blocking_"},
    {"issues", Kind::kIssue, "issue.number"},
    {"label"},
    {"marketplace_purchase"},
    {"member"},
    {"membership"},
    {"merge_group", Kind::kMergeGroup, "merge_group.head_sha"},
    {"meta"},
    {"milestone"},
    {"org_block"},
    {"organization"},
    {"package"},
    {"page_build"},
    {"personal_access_token_request"},
    {"ping"},
    {"project"},
    {"project_card"},
    {"project_column"},
    {"projects_v2"},
    {"projects_v2_item"},
    {"projects_v2_status_update"},
    {"public"},
    {"pull_request", Kind::kPullRequest, "pull_request.number"},
    {"pull_request_review", Kind::kPullRequest, "pull_request.number"},
    {"pull_request_review_comment", Kind::kPullRequest, "pull_request.number"},
    {"pull_request_review_thread", Kind::kPullRequest, "pull_request.number"},
    {"push"},
    {"registry_package"},
    {"release"},
    {"repository"},
    {"repository_advisory"},
    {"repository_dispatch"},
    {"repository_import"},
    {"repository_ruleset"},
    {"repository_vulnerability_alert"},
    {"secret_scanning_alert", Kind::kSecretScanningAlert, "alert.number"},
    {"secret_scanning_alert_location", Kind::kSecretScanningAlert, "alert.number"},
    {"secret_scanning_scan"},
    {"security_advisory"},
    {"security_and_analysis"},
    {"sponsorship"},
    {"star"},
    {"status", Kind::kCommit, "sha"},
    {"sub_issues", Kind::kIssue, "sub_issue.number", "parent_issue_"},
    {"sub_issues", Kind::kIssue, "parent_issue.number", "sub_issue_"},
    {"team"},
    {"team_add"},
    {"watch"},
    {"workflow_dispatch"},
    {"workflow_job", Kind::kWorkflowRun, "workflow_job.run_id"},
    {"workflow_run", Kind::kWorkflowRun, "workflow_run.id"},
};

constexpr EventRow kUnknownEvents[] = {
    {"", Kind::kPullRequest, "pull_request.number"},
    {"", Kind::kIssue, "issue.number"},
    {"", Kind::kDiscussion, "discussion.number"},
};

constexpr OwnerRow kOwners[] = {
    {"organization.id", "o{organization.id}", "{organization.login}/organization",
     "organization.login", "organization", 'o'},
    {"enterprise.id", "e{enterprise.id}", "{enterprise.slug}/enterprise", "enterprise.slug",
     "enterprise", 'e'},
    {"installation.id", "i{installation.id}", "installation/{installation.id}", "", "installation",
     'i'},
    {"", "h{hook}", "hook/{hook}", "", "hook", 'h'},
    {"", "s/{source}", "source/{source}", "", "source", 's'},
};

}  // namespace

std::span<const EventRow> EventTable() { return kEvents; }

std::span<const EventRow> RowsOf(std::string_view event) {
  const auto [first, last] = std::equal_range(
      std::begin(kEvents), std::end(kEvents), EventRow{event},
      [](const EventRow& left, const EventRow& right) { return left.event < right.event; });
  return {first, last};
}

const std::vector<std::string>& DocumentedEvents() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const EventRow& row : kEvents)
      if (all.empty() || all.back() != row.event) all.emplace_back(row.event);
    return all;
  }();
  return names;
}

std::span<const KindRow> KindTable() { return kKinds; }

const KindRow& RowOf(Kind kind) {
  const KindRow& row = kKinds.at(static_cast<std::size_t>(kind));
  TENURE_CHECK(row.kind == kind, "the kinds are not in the order of their enum");
  return row;
}

std::optional<Kind> KindOf(std::string_view word) {
  for (const KindRow& row : kKinds)
    if (row.word == word) return row.kind;
  return std::nullopt;
}

std::span<const EventRow> UnknownEventTable() { return kUnknownEvents; }

std::span<const OwnerRow> OwnerTable() { return kOwners; }

std::string RoutingTableText() {
  // Events of one rule share a row, in the order in which the rules first come.
  std::vector<std::pair<std::string, std::string>> rows;
  std::string of_repository;
  for (const EventRow& row : kEvents) {
    std::string event = row.action.empty() ? fmt::format("`{}`", row.event)
                                           : fmt::format("`{}` (`{}…`)", row.event, row.action);
    if (row.kind == Kind::kRepository) {
      of_repository += (of_repository.empty() ? "" : ", ") + event;
      continue;
    }
    const KindRow& kind = RowOf(row.kind);
    std::string rule = fmt::format("`{}/{{{}}}` | `{}/{{…}}`", kind.key, row.path, kind.word);
    const auto same = std::find_if(rows.begin(), rows.end(),
                                   [&](const auto& each) { return each.second == rule; });
    if (same == rows.end())
      rows.emplace_back(std::move(event), std::move(rule));
    else
      same->first += ", " + event;
  }
  std::string text =
      "| event | key below `{host}/r{repository.id}/` | printed below `{owner}/{repo}/` |\n"
      "| --- | --- | --- |\n";
  for (const auto& [events, rule] : rows) text += fmt::format("| {} | {} |\n", events, rule);
  std::string unknown;
  for (const EventRow& row : kUnknownEvents)
    unknown += fmt::format("`{}/{{{}}}`, else ", RowOf(row.kind).key, row.path);
  text += fmt::format("| any event that this version does not know | {}`repository` | the same |\n",
                      unknown);
  text += fmt::format("| {} | `repository` | `repository` |\n", of_repository);
  text += "\n| without a repository: the first that is there | printed |\n| --- | --- |\n";
  for (const OwnerRow& row : kOwners)
    text += fmt::format("| `{{host}}/{}` | `{}` |\n", row.key, row.printed);
  return text;
}

}  // namespace tenure::webhooks::rules
