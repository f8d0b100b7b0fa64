import type { Entity } from './entities.ts'
import type { Attribute } from './match-group.ts'

/** The attributes that have keys. Of arguments only those are asked for that an event has. */
export const createProbed = () => {
  const plain = new Set<Attribute>()
  const named = new Map<string, Set<Attribute>>()
  const placed = new Map<number, Set<Attribute>>()

  const placesOf = ({ steps: [list, name] }: Attribute): [Map<unknown, Set<Attribute>>, unknown][] => {
    if (list !== 'args' || name === undefined) return []
    return /^\d{1,15}$/.test(name)
      ? [
          [named, name],
          [placed, Number(name)],
        ]
      : [[named, name]]
  }

  return {
    add(attribute: Attribute) {
      const places = placesOf(attribute)
      if (places.length === 0) plain.add(attribute)
      for (const [map, place] of places) {
        const there = map.get(place)
        if (there) there.add(attribute)
        else map.set(place, new Set([attribute]))
      }
    },
    remove(attribute: Attribute) {
      plain.delete(attribute)
      for (const [map, place] of placesOf(attribute)) {
        const there = map.get(place)!
        there.delete(attribute)
        if (there.size === 0) map.delete(place)
      }
    },
    forEach({ decoded }: Entity, probe: (attribute: Attribute) => void) {
      for (const attribute of plain) probe(attribute)
      const args = decoded?.args
      if (!args) return
      for (let i = 0; i < args.length; i++) {
        const there = named.get(args[i]!.name)
        if (there) for (const attribute of there) probe(attribute)
        const others = placed.size === 0 ? undefined : placed.get(i)
        if (others) for (const attribute of others) probe(attribute)
      }
    },
  }
}
