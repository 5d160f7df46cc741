#pragma once

#include <span>
#include <string_view>

namespace proteus::admin {

// A type that answers of the admin API are made of, as `GET /admin` shows it and TypeScript writes it. Answers may have
// further members; those that are declared are there, unless they have a question mark.
struct AnswerType {
  std::string_view name;
  std::string_view text;
};

// Those that Route::answer names. tests/ui/answers.test.mjs holds answers against them.
std::span<const AnswerType> answer_types();

}  // namespace proteus::admin
