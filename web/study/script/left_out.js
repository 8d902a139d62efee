// Lists of a large study that the page shows in part.

function leftOutNote(part, things, which) {
  if (part === undefined) return null;
  return element(
    "p",
    { class: "quiet" },
    whole(part.shown) +
      " of " +
      whole(part.count) +
      " " +
      things +
      " are on this page (" +
      which +
      "); result.json of the study folder holds all.",
  );
}
