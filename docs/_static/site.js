// A page that is opened as a file may not read the others for an excerpt of a search result.
if (location.protocol === 'file:') DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
