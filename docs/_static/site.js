// A page that is opened as a file may not read the others for an excerpt of a search result.
if (location.protocol === 'file:') DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
// On a phone the contents of a page cover it: they close when a heading is chosen.
document.addEventListener('click', event => {
  if (event.target.closest('.toc-drawer a')) document.getElementById('__toc').checked = false;
});
