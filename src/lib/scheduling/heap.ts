/** The least `at` first. */
export const createHeap = <T extends { at: number }>() => {
  const heap: T[] = []
  const swap = (a: number, b: number) => {
    const kept = heap[a]!
    heap[a] = heap[b]!
    heap[b] = kept
  }
  return {
    peek: (): T | undefined => heap[0],
    push(item: T) {
      let at = heap.push(item) - 1
      for (let up = (at - 1) >> 1; at > 0 && heap[up]!.at > heap[at]!.at; at = up, up = (at - 1) >> 1) swap(at, up)
    },
    pop() {
      const last = heap.pop()
      if (!last || heap.length === 0) return
      heap[0] = last
      for (let at = 0; ; ) {
        const [left, right] = [2 * at + 1, 2 * at + 2]
        let least = at
        if (left < heap.length && heap[left]!.at < heap[least]!.at) least = left
        if (right < heap.length && heap[right]!.at < heap[least]!.at) least = right
        if (least === at) return
        swap(at, least)
        at = least
      }
    },
  }
}
