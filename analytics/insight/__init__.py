"""The conclusions from a day's reports: added up, compared with what is usual, foreseen, held
against its targets. They use the reports' rows alone, so that they cost no look at the lake."""
