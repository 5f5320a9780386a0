"""The reports: of a day's messages, what there is to count. Pure, DataFrame to DataFrame."""
