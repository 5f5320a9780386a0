"""What is concluded from a day's reports: added up, compared with what is usual, foreseen, held
against its targets. From the reports' rows alone, so that it costs no look at the lake."""
