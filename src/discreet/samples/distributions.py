"""The synthetic country: towns, names, schools, occupations, illnesses, and how they depend on each other.

A table of shares has a row per group of people and a column per value; rows need not add up to one.
"""

from __future__ import annotations

__all__ = [
    "AGE_SHARES",
    "CHILDREN",
    "DIAGNOSES",
    "DIAGNOSIS_SHARES",
    "EDUCATIONS",
    "EDUCATION_SHARES",
    "FEMALE_NAMES",
    "INCOMES",
    "LAST_NAMES",
    "LIFE_STAGES",
    "MALE_NAMES",
    "MARITAL_SHARES",
    "MARITAL_STATUSES",
    "OCCUPATIONS",
    "OCCUPATION_SHARES",
    "SCHOOL_STAGES",
    "TOWNS",
]

Shares = list[list[float]]

FEMALE_NAMES = """
Ada Agnes Alice Alma Amira Ana Anja Beatrice Bianca Carla Cecilia Chiara Clara Dalia Daphne Diana Edith
Elena Elif Elsa Emma Esther Eva Fatima Flora Freya Greta Hanna Helen Ida Ines Ingrid Irene Iris Jana
Jasmin Johanna Judith Julia Karin Laila Laura Lea Lena Linnea Lucia Magda Maja Maria Marta Mei Mila
Nadia Nina Nora Olga Olivia Paula Petra Renata Rosa Ruth Salma Sara Selma Silvia Sofia Tamara Thea Vera
Wanda Yara Zoe
"""

MALE_NAMES = """
Aaron Adam Adrian Ahmed Albert Alexei Anton Arthur Axel Benjamin Boris Bruno Carlos Casper Daniel David
Diego Dimitri Elias Emil Eric Felix Filip Finn Florian Gabriel Georg Gustav Hamid Hans Henrik Hugo
Ibrahim Igor Isaac Ivan Jakob Jan Jonas Joseph Julian Karim Karl Kevin Lars Leo Liam Linus Louis Luca
Luis Malik Marco Mario Martin Matteo Max Milan Nico Nils Omar Oscar Otto Paul Pedro Rafael Robert Samir
Samuel Simon Stefan Theo Thomas Tomas Viktor Yusuf
"""

LAST_NAMES = """
Abbott Adler Alvarez Amato Andersen Arslan Aydin Bauer Becker Bell Berg Bianchi Blom Bosch Brandt Brook
Brun Campbell Carter Castro Chen Cohen Conti Costa Cruz Dahl Diaz Dubois Duran Eklund Engel Evans Faber
Farah Ferrari Fischer Fontaine Forest Foster Frank Garcia Garnier Gomez Graf Green Haas Hale Hall Hansen
Hassan Herrera Hill Holm Horvat Hughes Ibarra Ivanov Jansen Jensen Joshi Kaya Keller Khan Kim Klein Koch
Kowal Kraft Lambert Lang Larsen Lee Lehmann Leone Lind Lopez Lorenz Lund Maier Mancini Marino Martel
Mason Mendez Meyer Miller Moreau Morgan Moser Nagy Nielsen Noor Novak Olsen Ortiz Otero Owen Park Patel
Perez Petit Popov Quinn Ramos Reed Reyes Ricci Rivera Roberts Rossi Roth Roux Russo Saleh Santos Schmidt
Schultz Serra Silva Singh Sokol Stein Stone Sundberg Suzuki Tanaka Taylor Torres Toth Turner Vargas Vega
Vidal Vogel Wagner Walker Wang Weber Weiss West White Wolf Wood Wright Yilmaz Young Zeller Zimmer
"""

TOWNS: dict[str, dict[str, tuple[int, int, int]]] = {
    "Northshore": {
        "Alderport": (10, 30, 150),
        "Brackwell": (12, 16, 60),
        "Cairnhaven": (13, 9, 32),
        "Dunmere": (15, 4, 12),
    },
    "Lakelands": {
        "Eastmere": (20, 24, 110),
        "Fallowbrook": (22, 12, 44),
        "Glasswater": (24, 6, 20),
    },
    "Midvale": {
        "Harrowgate": (30, 40, 230),
        "Ironbridge": (33, 18, 80),
        "Juniper Hill": (35, 7, 26),
        "Kestrel Cross": (37, 5, 14),
    },
    "Highlands": {
        "Larkspur": (40, 10, 36),
        "Mossfield": (42, 6, 18),
        "Northam Pass": (44, 3, 8),
    },
    "Southplain": {
        "Oakhurst": (50, 26, 120),
        "Pennyford": (52, 14, 54),
        "Quarrytown": (54, 8, 28),
        "Rosedale": (56, 5, 16),
    },
    "Westcoast": {
        "Saltmarsh": (60, 20, 96),
        "Tidewater": (62, 12, 46),
        "Umberly": (64, 6, 20),
        "Vantage Point": (66, 4, 10),
    },
}
"""Region -> town -> (first two digits of its zip codes, number of zip codes, share of the people)."""

AGE_SHARES = [11, 11, 11, 11, 12, 13, 14, 14, 13, 13, 13, 13, 12, 10, 9, 7, 4.5, 2.5, 1, 0.2]
"""How many people there are in each five years of age, from 0-4 to 95-99."""

EDUCATIONS = [
    "No schooling",
    "Primary school",
    "Middle school",
    "High school",
    "Vocational",
    "Bachelor",
    "Master",
    "Doctorate",
]

SCHOOL_STAGES = [6, 11, 15, 19, 23, 28, 40, 60]
"""The ages at which the next row of the shares of education begins."""

EDUCATION_SHARES: Shares = [
    [1, 0, 0, 0, 0, 0, 0, 0],
    [0.12, 0.88, 0, 0, 0, 0, 0, 0],
    [0, 0.35, 0.65, 0, 0, 0, 0, 0],
    [0, 0.02, 0.58, 0.38, 0.02, 0, 0, 0],
    [0, 0.02, 0.15, 0.61, 0.16, 0.06, 0, 0],
    [0, 0.02, 0.11, 0.29, 0.24, 0.26, 0.08, 0],
    [0.005, 0.02, 0.10, 0.26, 0.24, 0.23, 0.13, 0.015],
    [0.01, 0.04, 0.14, 0.30, 0.26, 0.16, 0.08, 0.01],
    [0.03, 0.14, 0.24, 0.28, 0.20, 0.07, 0.03, 0.01],
]

LIFE_STAGES = [6, 16, 19, 25, 30, 40, 50, 65, 75]
"""The ages at which the next row of the shares of marital status and diagnosis begins."""

MARITAL_STATUSES = ["Single", "Partnered", "Married", "Separated", "Divorced", "Widowed"]

MARITAL_SHARES: Shares = [
    [1, 0, 0, 0, 0, 0],
    [1, 0, 0, 0, 0, 0],
    [0.98, 0.02, 0, 0, 0, 0],
    [0.78, 0.17, 0.05, 0, 0, 0],
    [0.48, 0.26, 0.24, 0.01, 0.01, 0],
    [0.27, 0.18, 0.47, 0.03, 0.05, 0],
    [0.17, 0.12, 0.55, 0.04, 0.11, 0.01],
    [0.10, 0.07, 0.61, 0.03, 0.15, 0.04],
    [0.06, 0.04, 0.62, 0.01, 0.12, 0.15],
    [0.05, 0.02, 0.44, 0.01, 0.07, 0.41],
]

CHILDREN: Shares = [
    [1, 0, 0, 0, 0, 0],
    [0.55, 0.22, 0.15, 0.06, 0.015, 0.005],
    [0.16, 0.24, 0.36, 0.17, 0.05, 0.02],
]
"""Shares of 0 to 5 children: people under 19, people never married, everybody else."""

OCCUPATIONS = [
    "Child",
    "Pupil",
    "Student",
    "Farming",
    "Construction",
    "Manufacturing",
    "Transport",
    "Cleaning",
    "Retail",
    "Hospitality",
    "Crafts",
    "Office work",
    "Nursing",
    "Teaching",
    "Engineering",
    "Information technology",
    "Finance",
    "Medicine",
    "Law",
    "Research",
    "Management",
    "Homemaker",
    "Unemployed",
    "Retired",
]

OCCUPATION_SHARES: Shares = [
    [0, 0, 0, 14, 14, 12, 6, 22, 6, 8, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 14, 0],
    [0, 0, 0, 9, 15, 14, 9, 16, 9, 9, 5, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0.3, 9, 12, 0],
    [0, 0, 0, 5, 13, 15, 11, 10, 14, 10, 8, 4, 2, 0, 0, 0.4, 0, 0, 0, 0, 0.6, 6, 8, 0],
    [0, 0, 3, 2, 7, 9, 8, 4, 17, 9, 7, 16, 5, 0.5, 1, 2, 2, 0, 0, 0, 2, 4, 5, 0],
    [0, 0, 1, 3, 10, 13, 6, 1, 8, 5, 14, 12, 11, 1, 3, 4, 2, 0, 0, 0, 3, 3, 3, 0],
    [0, 0, 2, 0.5, 0.5, 1, 1, 0.2, 5, 3, 1, 18, 8, 16, 11, 12, 10, 0, 1, 1, 8, 2, 3, 0],
    [0, 0, 1, 0.3, 0, 0.5, 0.3, 0, 1, 1, 0.5, 8, 2, 15, 15, 14, 11, 9, 9, 4, 13, 1.5, 2, 0],
    [0, 0, 0, 0, 0, 0.2, 0, 0, 0.2, 0.2, 0, 2, 0.5, 14, 10, 6, 4, 26, 5, 31, 9, 0.5, 1, 0],
]
"""One row per education: what people of working age do."""

INCOMES = [
    *(0, 0, 9_000),
    *(27_000, 33_000, 35_000, 32_000, 22_000, 26_000, 23_000, 34_000, 37_000, 39_000, 44_000),
    *(62_000, 65_000, 63_000, 92_000, 80_000, 58_000, 84_000, 6_000, 12_000, 24_000),
]
"""The median yearly income in each occupation."""

DIAGNOSES = [
    "Healthy",
    "Infection",
    "Injury",
    "Asthma",
    "Allergy",
    "Migraine",
    "Back pain",
    "Skin disorder",
    "Depression",
    "Anxiety",
    "Pregnancy",
    "Diabetes",
    "Hypertension",
    "Heart disease",
    "Stroke",
    "Arthritis",
    "Breast cancer",
    "Prostate cancer",
    "Lung cancer",
    "Kidney disease",
    "Dementia",
]

_FEMALE_DIAGNOSES: Shares = [
    [52, 27, 8, 5, 6, 0.2, 0, 5, 0, 0, 0, 0.2, 0, 0, 0, 0, 0, 0, 0, 0.1, 0],
    [48, 17, 13, 7, 9, 3, 0.5, 6, 1, 2, 0, 0.5, 0, 0, 0, 0.1, 0, 0, 0, 0.1, 0],
    [43, 14, 11, 6, 9, 6, 1, 7, 6, 7, 1.5, 0.6, 0, 0, 0, 0.1, 0, 0, 0, 0.1, 0],
    [37, 13, 9, 5, 8, 8, 3, 6, 8, 9, 6, 0.7, 0.3, 0, 0, 0.2, 0.1, 0, 0, 0.2, 0],
    [32, 12, 7, 5, 7, 8, 5, 5, 8, 8, 13, 1, 0.8, 0.1, 0, 0.4, 0.3, 0, 0, 0.3, 0],
    [31, 11, 7, 4, 6, 8, 9, 5, 9, 8, 8, 2, 2, 0.4, 0.1, 1, 1, 0, 0.1, 0.4, 0],
    [29, 9, 6, 4, 5, 7, 12, 5, 9, 7, 0.4, 4, 6, 1, 0.4, 4, 3, 0, 0.4, 0.8, 0],
    [22, 8, 6, 3, 4, 4, 12, 4, 8, 5, 0, 8, 14, 4, 1.5, 9, 4, 0, 1.4, 1.5, 0.2],
    [13, 8, 7, 3, 2, 1.5, 10, 4, 6, 3, 0, 11, 20, 9, 3, 14, 4, 0, 2, 3, 2],
    [7, 9, 9, 2, 1, 0.6, 7, 3, 5, 2, 0, 10, 21, 14, 6, 15, 3, 0, 1.5, 5, 11],
]

_MALE_DIAGNOSES: Shares = [
    [50, 28, 10, 6, 6, 0.2, 0, 5, 0, 0, 0, 0.2, 0, 0, 0, 0, 0, 0, 0, 0.1, 0],
    [46, 17, 18, 8, 8, 2, 0.5, 5, 0.8, 1, 0, 0.5, 0, 0, 0, 0, 0, 0, 0, 0.1, 0],
    [44, 14, 20, 6, 8, 3, 1, 7, 3, 4, 0, 0.6, 0, 0, 0, 0.1, 0, 0, 0, 0.1, 0],
    [44, 13, 19, 5, 7, 3, 4, 5, 5, 6, 0, 0.8, 0.5, 0.1, 0, 0.2, 0, 0, 0, 0.2, 0],
    [43, 12, 16, 4, 6, 3, 7, 5, 6, 6, 0, 1, 1.2, 0.2, 0, 0.3, 0, 0, 0, 0.3, 0],
    [40, 11, 13, 4, 5, 3, 11, 5, 6, 5, 0, 2.5, 4, 0.8, 0.2, 0.8, 0, 0, 0.1, 0.5, 0],
    [34, 9, 10, 3, 4, 2.5, 14, 5, 6, 5, 0, 5, 9, 3, 0.6, 3, 0, 0.4, 0.6, 1, 0],
    [22, 8, 7, 3, 3, 1.5, 13, 4, 5, 3, 0, 10, 17, 9, 2.5, 7, 0, 4, 2.5, 2, 0.2],
    [12, 8, 6, 3, 1.5, 0.6, 9, 4, 4, 2, 0, 12, 20, 15, 4, 9, 0, 8, 3.5, 4, 1.5],
    [7, 9, 8, 2, 1, 0.3, 6, 3, 4, 1, 0, 10, 19, 20, 7, 10, 0, 8, 2.5, 6, 8],
]

DIAGNOSIS_SHARES = [*_FEMALE_DIAGNOSES, *_MALE_DIAGNOSES]
"""One row per life stage of women, then of men."""
