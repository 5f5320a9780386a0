"""The reports: the counts that are made of a day's messages. Pure, DataFrame to DataFrame."""
