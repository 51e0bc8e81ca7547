/* Layered drawing of a directed graph without cycles: what is computed from something stands below it.
 *
 * 1. Each node gets a layer, one below the lowest node that it needs; inputs, and what is computed from things that
 *    nobody else reads, stand right above their first reader.
 * 2. An edge over several layers goes through one point in each layer between; edges from one node share them.
 * 3. Layers are ordered so that few edges cross: each node goes to the mean place of its neighbours, sweep by sweep.
 * 4. Within this order, nodes move as close to their neighbours as the widths allow (least squares, solved exactly for
 *    each layer by pooling neighbours that would overlap).
 */
"use strict";

const GraphLayout = (() => {
  const GAP_X = 22;
  const GAP_Y = 44;
  const STRAIGHT = 8; // how much more it counts that a long edge is straight

  function layersOf(count, edges) {
    const readers = Array.from({ length: count }, () => []);
    const missing = new Int32Array(count);
    for (const [from, to] of edges) {
      readers[from].push(to);
      missing[to] += 1;
    }
    const layer = new Int32Array(count);
    const ready = [...missing.keys()].filter((v) => missing[v] === 0);
    for (let k = 0; k < ready.length; k++) {
      for (const to of readers[ready[k]]) {
        layer[to] = Math.max(layer[to], layer[ready[k]] + 1);
        if (--missing[to] === 0) ready.push(to);
      }
    }
    const own = new Uint8Array(count).fill(1);
    for (const v of ready) {
      const shared = !own[v] || readers[v].some((to) => to !== readers[v][0]);
      if (shared) for (const to of readers[v]) own[to] = 0;
    }
    for (const v of ready.reverse()) {
      if (own[v] && readers[v].length) layer[v] = readers[v].reduce((low, to) => Math.min(low, layer[to]), Infinity) - 1;
    }
    return layer;
  }

  /* The graph with points for long edges: neighbours above and below, and the points that each edge goes through. */
  function withPoints(count, edges, layer) {
    const rank = Array.from(layer);
    const above = Array.from({ length: count }, () => []);
    const below = Array.from({ length: count }, () => []);
    const chains = new Map();
    const most = 4 * count + 4000;
    const link = (a, b) => {
      below[a].push(b);
      above[b].push(a);
    };
    const through = edges.map(([from, to]) => {
      const between = layer[to] - layer[from] - 1;
      if (between > 0 && rank.length - count + between > most) return [];
      if (!chains.has(from)) chains.set(from, []);
      const chain = chains.get(from);
      while (chain.length < between) {
        const point = rank.length;
        rank.push(layer[from] + chain.length + 1);
        above.push([]);
        below.push([]);
        link(chain.length ? chain[chain.length - 1] : from, point);
        chain.push(point);
      }
      link(between > 0 ? chain[between - 1] : from, to);
      return chain.slice(0, Math.max(between, 0));
    });
    return { rank, above, below, through };
  }

  /* The nodes of each layer, left to right as a walk from the results meets them. */
  function firstOrder({ rank, above, below }) {
    const rows = Array.from({ length: rank.reduce((a, b) => Math.max(a, b), -1) + 1 }, () => []);
    const seen = new Uint8Array(rank.length);
    const ends = [...rank.keys()].filter((v) => below[v].length === 0);
    const pending = ends.reverse();
    while (pending.length) {
      const v = pending.pop();
      if (seen[v]) continue;
      seen[v] = 1;
      rows[rank[v]].push(v);
      for (let k = above[v].length - 1; k >= 0; k--) pending.push(above[v][k]);
    }
    return rows;
  }

  function crossings(rows, { below }, place) {
    let total = 0;
    for (const row of rows.slice(0, -1)) {
      const next = [];
      for (const v of row) next.push(...below[v].map((to) => place[to]).sort((a, b) => a - b));
      const size = next.reduce((a, b) => Math.max(a, b), 0) + 2;
      const tree = new Int32Array(size + 1);
      let seen = 0;
      for (const at of next) {
        let upTo = 0;
        for (let k = at + 1; k > 0; k -= k & -k) upTo += tree[k];
        total += seen - upTo;
        seen += 1;
        for (let k = at + 1; k <= size; k += k & -k) tree[k] += 1;
      }
    }
    return total;
  }

  function order(rows, graph, sweeps) {
    const place = new Int32Array(graph.rank.length);
    const number = (row) => row.forEach((v, k) => { place[v] = k; });
    rows.forEach(number);
    let best = rows.map((row) => [...row]);
    let fewest = crossings(rows, graph, place);
    for (let sweep = 0; sweep < sweeps && fewest > 0; sweep++) {
      const down = sweep % 2 === 0;
      const neighbours = down ? graph.above : graph.below;
      for (const row of down ? rows : [...rows].reverse()) {
        const wish = new Map(row.map((v) => {
          const near = neighbours[v];
          return [v, near.length ? near.reduce((sum, u) => sum + place[u], 0) / near.length : place[v]];
        }));
        row.sort((a, b) => wish.get(a) - wish.get(b));
        number(row);
      }
      const now = crossings(rows, graph, place);
      if (now < fewest) {
        fewest = now;
        best = rows.map((row) => [...row]);
      }
    }
    return best;
  }

  /* Places as close as possible to what is wished, in this order and with these distances. */
  function spread(wishes, weights, distances) {
    const pools = [];
    let offset = 0;
    const offsets = wishes.map((_, k) => (offset += k ? distances[k - 1] : 0));
    wishes.forEach((wish, k) => {
      let pool = { sum: weights[k] * (wish - offsets[k]), weight: weights[k], size: 1 };
      while (pools.length) {
        const last = pools[pools.length - 1];
        if (last.sum / last.weight <= pool.sum / pool.weight) break;
        pools.pop();
        pool = { sum: last.sum + pool.sum, weight: last.weight + pool.weight, size: last.size + pool.size };
      }
      pools.push(pool);
    });
    const found = [];
    for (const pool of pools) {
      for (let k = 0; k < pool.size; k++) found.push(pool.sum / pool.weight + offsets[found.length]);
    }
    return found;
  }

  function columns(rows, graph, widths, sweeps) {
    const x = new Float64Array(graph.rank.length);
    const isPoint = (v) => v >= widths.length;
    const width = (v) => (isPoint(v) ? 4 : widths[v]);
    const gaps = rows.map((row) => row.slice(1).map((v, k) => (width(row[k]) + width(v)) / 2 + GAP_X));
    rows.forEach((row, at) => {
      let left = 0;
      row.forEach((v, k) => { x[v] = k ? (left += gaps[at][k - 1]) : 0; });
      const middle = left / 2;
      for (const v of row) x[v] -= middle;
    });
    for (let sweep = 0; sweep < sweeps; sweep++) {
      const down = sweep % 2 === 0;
      const both = sweep >= sweeps - 2;
      for (let step = 0; step < rows.length; step++) {
        const at = down ? step : rows.length - 1 - step;
        const row = rows[at];
        const weights = [];
        const wishes = row.map((v) => {
          const near = both ? [...graph.above[v], ...graph.below[v]] : (down ? graph.above : graph.below)[v];
          let sum = 0;
          let weight = 0;
          for (const u of near) {
            const counts = isPoint(u) && isPoint(v) ? STRAIGHT : 1;
            sum += counts * x[u];
            weight += counts;
          }
          weights.push(weight || 0.1);
          return weight ? sum / weight : x[v];
        });
        spread(wishes, weights, gaps[at]).forEach((value, k) => { x[row[k]] = value; });
      }
    }
    return x;
  }

  /* Arrange boxes.
   *
   * sizes: [width, height] of each node; edges: [from, to], numbers of nodes, in the order in which a node reads them.
   * Returns {x, y, width, height, paths}: the middles of nodes, and the points that each edge goes through.
   */
  function arrange(sizes, edges) {
    const count = sizes.length;
    if (!count) return { x: [], y: [], width: 0, height: 0, paths: [] };
    const graph = withPoints(count, edges, layersOf(count, edges));
    const sweeps = graph.rank.length > 4000 ? 4 : 16;
    const rows = order(firstOrder(graph), graph, sweeps);
    const x = columns(rows, graph, sizes.map((size) => size[0]), sweeps);
    const y = new Float64Array(graph.rank.length);
    let top = 0;
    for (const row of rows) {
      const height = row.reduce((most, v) => (v < count ? Math.max(most, sizes[v][1]) : most), 0);
      for (const v of row) y[v] = top + height / 2;
      top += height + GAP_Y;
    }
    let left = Infinity;
    let right = -Infinity;
    for (let v = 0; v < graph.rank.length; v++) {
      const half = v < count ? sizes[v][0] / 2 : 2;
      left = Math.min(left, x[v] - half);
      right = Math.max(right, x[v] + half);
    }
    for (let v = 0; v < graph.rank.length; v++) x[v] -= left;
    const arriving = new Int32Array(count);
    for (const [, to] of edges) arriving[to] += 1;
    const arrived = new Int32Array(count);
    const paths = edges.map(([from, to], k) => {
      const aside = (arrived[to]++ - (arriving[to] - 1) / 2) * Math.min(16, sizes[to][0] / (arriving[to] + 1));
      return [
        [x[from], y[from] + sizes[from][1] / 2],
        ...graph.through[k].map((v) => [x[v], y[v]]),
        [x[to] + aside, y[to] - sizes[to][1] / 2],
      ];
    });
    return {
      x: Array.from(x.slice(0, count)), y: Array.from(y.slice(0, count)), width: right - left, height: top - GAP_Y, paths,
    };
  }

  return { arrange };
})();

if (typeof module !== "undefined") module.exports = GraphLayout;
