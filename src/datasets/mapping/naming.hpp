#pragma once

#include <string>
#include <string_view>
#include <vector>

// What the names of tables and columns mean, in any naming style.
namespace proteus::datasets {

// Returns the words of a name in lower case: support, rep, id for "SupportRepId" and "support_rep_id".
std::vector<std::string> words_of(std::string_view name);
// Returns the singular: employee for "employees", company for "companies", box for "boxes". Other words stay unchanged.
std::string singular(std::string_view word);
// Joins the words by underscores, the last one in the singular: "Invoice Lines" becomes invoice_line. Drops a prefix
// such as "tbl".
std::string entity_type_of(std::string_view table);
// Returns the words without an ending such as "id": support, rep for "support_rep_id"; reports, to for "reports_to".
std::vector<std::string> link_words(std::string_view column);
std::string joined(const std::vector<std::string>& words, std::string_view separator);
std::string upper(std::string_view text);

// Returns whether a name can stand in a mapping: not empty, valid UTF-8 without control characters, not too long.
bool is_writable(std::string_view name);
// Returns whether the name of a column suggests contents that nobody should see.
bool looks_secret(std::string_view column);

}  // namespace proteus::datasets
