/** The hits in the text of an answer as it comes, which is never parsed as a whole. */

export const createHitCounter = () => {
  let head = ''
  let rest: Buffer = Buffer.alloc(0)
  let hits = 0
  return {
    get hits() {
      return hits
    },
    /** As the answer's head tells it. */
    get total(): number {
      return Number(/"total":(-?\d+),"max_score"/.exec(head)?.[1])
    },
    add(chunk: Buffer) {
      if (head.length < HEAD) head += chunk.toString('latin1', 0, HEAD)
      const text = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
      for (let at = text.indexOf(HIT); at >= 0; at = text.indexOf(HIT, at + HIT.length)) hits++
      // A mark may be cut in two; the part that stays is too short to be counted twice.
      rest = text.subarray(Math.max(0, text.length - HIT.length + 1))
    },
  }
}

export async function* hitsIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let start = rest.indexOf(HIT)
    if (start < 0) continue
    for (let next = rest.indexOf(HIT, start + HIT.length); next >= 0; next = rest.indexOf(HIT, start + HIT.length)) {
      // Between two hits there is a comma.
      yield rest.subarray(start, next - 1)
      start = next
    }
    rest = rest.subarray(start)
  }
  if (!rest.subarray(0, HIT.length).equals(HIT)) return
  const end = rest.lastIndexOf(END)
  if (end < 0) throw new Error('an answer ends in the middle of a hit')
  yield rest.subarray(0, end)
}

// No value of a document can hold it: quotes are escaped there.
const HIT = Buffer.from('{"_index":"')
const END = Buffer.from(']}}')
const HEAD = 1000
