#pragma once

#include <span>
#include <string_view>

namespace proteus::admin {

// A type of answers of the admin API, as `GET /admin` shows it, in TypeScript syntax. Answers may have further members.
// Declared members are present, unless they are marked with a question mark.
struct AnswerType {
  std::string_view name;
  std::string_view text;
};

// Returns the types that Route::answer names. tests/ui/answers.test.mjs checks answers against them.
std::span<const AnswerType> answer_types();

}  // namespace proteus::admin
