#pragma once

#include <string>
#include <string_view>
#include <vector>

// What names of tables and columns say, whichever way they are written.
namespace proteus::datasets {

// The words of a name, lower case: "SupportRepId" and "support_rep_id" are support, rep, id.
std::vector<std::string> words_of(std::string_view name);
// "employees" is employee, "companies" company, "boxes" box; what is no plural stays.
std::string singular(std::string_view word);
// The words with an underscore between, the last one singular: "Invoice Lines" is invoice_line.
std::string entity_type_of(std::string_view table);
// "support_rep_id" is support, rep; "reports_to" is reports, to.
std::vector<std::string> link_words(std::string_view column);
std::string joined(const std::vector<std::string>& words, std::string_view separator);
std::string upper(std::string_view text);

// Whether all of it can stand in a TOML file: valid UTF-8 without control characters, not too long.
bool is_writable(std::string_view name);
// Whether a column holds something that nobody should be shown.
bool looks_secret(std::string_view column);

}  // namespace proteus::datasets
