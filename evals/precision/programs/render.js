// Objects, maps, strings and a typed array.
function people(n) {
  const out = [];
  for (let i = 0; i < n; i++) out.push({ id: i, name: 'p' + (i * 7919) % n, age: i % 90 });
  return out;
}
function byAge(list) {
  const m = new Map();
  for (const p of list) {
    if (!m.has(p.age)) m.set(p.age, []);
    m.get(p.age).push(p);
  }
  return m;
}
function blur(n) {
  const a = new Float64Array(n).map((_, i) => i % 255);
  for (let k = 0; k < 20; k++) for (let i = 1; i + 1 < n; i++) a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
  return a[n >> 1];
}
let sum = 0;
for (let i = 0; i < 15; i++) {
  const list = people(100000);
  list.sort((x, y) => (x.name < y.name ? -1 : 1));
  sum += byAge(list).size + blur(500000);
  sum += JSON.parse(JSON.stringify(list)).length;
}
console.log(sum);
