// Renders rows to HTML. Planted: escapeHtml builds five regular expressions a cell, and sortRows sorts the whole table again
// for every row; the first costs less than the second.
'use strict';

function escapeHtml(s) {
    for (const [from, to] of [['&', '&amp;'], ['<', '&lt;'], ['>', '&gt;'], ['"', '&quot;'], ["'", '&#39;']])
        s = s.replace(new RegExp(from, 'g'), to);
    return s;
}

function sortRows(rows) {
    return [...rows].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function renderRow(rows, i) {
    const row = sortRows(rows)[i];
    return '<tr><td>' + escapeHtml(row.name) + '</td><td>' + escapeHtml(row.text) + '</td></tr>';
}

let length = 0;
const rounds = Number(process.argv[2] || 30);
for (let r = 0; r < rounds; r++) {
    const rows = [];
    for (let i = 0; i < 300; i++)
        rows.push({name: 'n' + ((i * 7919 + r) % 1000), text: '<a href="x">' + i + '</a>'});
    for (let i = 0; i < rows.length; i++)
        length += renderRow(rows, i).length;
}
console.log(length);
