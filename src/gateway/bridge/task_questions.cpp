#include "gateway/bridge/task_questions.hpp"

#include <utility>

#include "gateway/routing/task_translation.hpp"
#include "json/text.hpp"

namespace proteus::gateway {
namespace {

Task<Result<std::string>> ask_about_task(client::Handler ask, std::shared_ptr<const SessionTasks> tasks,
                                         std::string upstream, client::Question question) {
  const std::string_view raw = related_task(question.params);
  const std::string own = json::decode_string(raw).value_or("");
  if (const auto shown = tasks->shown(upstream, own)) question.params = with_string(question.params, raw, *shown);
  auto answer = co_await ask(std::move(question));
  if (!answer) co_return answer;
  const std::string_view said = related_task(*answer);
  if (!said.empty()) answer = with_string(*answer, said, own);
  co_return answer;
}

}  // namespace

client::Handler with_task_ids(client::Handler ask, std::shared_ptr<const SessionTasks> tasks, std::string upstream) {
  return [ask = std::move(ask), tasks = std::move(tasks), upstream = std::move(upstream)](client::Question question) {
    return related_task(question.params).empty() ? ask(std::move(question))
                                                 : ask_about_task(ask, tasks, upstream, std::move(question));
  };
}

}  // namespace proteus::gateway
