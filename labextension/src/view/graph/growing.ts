/** A list made from one that mostly grows at its end. */

/**
 * What `make` makes of each of a list, in order, without its nulls. What stood at the front of
 * the list before is not looked at again: among ten thousand objects one more costs one.
 */
export function growing<A, B>(make: (one: A) => B | null): (list: readonly A[]) => readonly B[] {
  let before: readonly A[] = [];
  const made: B[] = [];
  const from: number[] = [];
  return list => {
    let same = 0;
    while (same < before.length && before[same] === list[same]) same++;
    while ((from.at(-1) ?? -1) >= same) made.length = from.length = from.length - 1;
    for (const [index, one] of list.slice(same).entries()) {
      const next = make(one);
      if (next === null) continue;
      made.push(next);
      from.push(same + index);
    }
    before = list;
    return made;
  };
}
